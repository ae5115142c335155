import type { EndpointsQuery, FindMeta, FoundEndpoint } from '../../shared/contracts/endpoints.ts';
import { FINDS } from '../../shared/domain/accounts/plans.ts';
import { defined } from '../../shared/domain/defined.ts';
import { wordsOf } from '../../shared/domain/find/candidates.ts';
import { fieldsWith } from '../../shared/domain/find/endpoint-words.ts';
import { pageOf } from '../../shared/domain/find/order.ts';
import { memorableTaskWords, type Search } from '../../shared/domain/find/weigh.ts';
import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { normaliseSite, registrableDomain } from '../../shared/domain/site/site-name.ts';
import { newTimedId } from '../../shared/domain/text/ids.ts';
import { normaliseNewlines } from '../../shared/domain/text/text-rule.ts';
import type { Json } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { FindFilters } from '../../shared/store/registry/find-statements.ts';
import { type EndpointRow, endpointRows } from '../../shared/store/registry/list-endpoints.ts';
import { withoutRefused } from '../../shared/store/registry/refused-endpoints.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { type Page, readPage, refuseOldPlace } from '../answers/paging.ts';
import type { OpenCall, Reply } from '../call.ts';
import { meaningOf } from './embed-task.ts';

type FindCall = OpenCall<object, EndpointsQuery, undefined>;

const DEFAULT_LIMIT = 10;

/** GET /v1/endpoints: counts the search, finds endpoint ids, then reads and presents one page of them. */
export async function findEndpoints(call: FindCall): Promise<Reply<FoundEndpoint[]>> {
    const { query } = call;
    const filters = filtersOf(query);
    const about = [query.task ?? null, JSON.stringify(filters)];
    const page = await readPage({ ...call, query: { limit: DEFAULT_LIMIT, ...query } }, about);
    await countFind(call);
    return query.task === undefined ? listAll(call, filters, page) : findByTask(call, { task: query.task, filters, page });
}

function filtersOf({ category, kind, effect, site, verified, max_credits, needs_connection }: EndpointsQuery): FindFilters {
    return {
        category,
        kind,
        effect,
        site: site === undefined ? undefined : readSite(site, '/site').site,
        isVerifiedOnly: verified ?? false,
        maxCredits: max_credits,
        needsConnection: needs_connection,
    };
}

async function listAll(call: FindCall, filters: FindFilters, page: Page): Promise<Reply<FoundEndpoint[]>> {
    const { browse, usedLists } = call.app;
    const { rows: ids, next, total } = await usedLists.page(filters, page).catch(refuseOldPlace);
    const rows = await withoutRefused(browse, await endpointRows(browse, ids), (row) => row);
    return { answer: rows.map((row) => presentFound(row, undefined)), pagination: await page.end(next, total), meta: metaOf(call, total) };
}

/** The ranking, stored in the cursor. A list that started with the ranking by words continues with it. */
const BY_WORDS = 'words';
const BY_MEANING = 'meaning';

async function findByTask(
    call: FindCall,
    { task, filters, page }: { task: string; filters: FindFilters; page: Page },
): Promise<Reply<FoundEndpoint[]>> {
    const { app, caller } = call;
    const { browse, finder } = app;
    const { ranking, from } = placeIn(page.after);
    const meaning = ranking === BY_WORDS ? undefined : meaningOf(app, caller, task);
    const { search, found, isByMeaning } = await finder.find(task, filters, meaning);
    const { rows: shown, next } = pageOf(found, from, page.limit);
    const words = [...new Set((search?.terms ?? []).filter(({ isTelling }) => isTelling).flatMap(wordsOf))];
    const ids = shown.map(({ id }) => id);
    const rows = await endpointRows(browse, ids, words);
    const scores = new Map(shown.map(({ id, score }) => [id, score]));
    return {
        answer: rows.map((row) => presentFound(row, { words, score: scores.get(row.id) ?? 0 })),
        pagination: await page.end(next === undefined ? undefined : [isByMeaning ? BY_MEANING : BY_WORDS, next], found.length),
        meta: metaOf(call, found.length, search),
    };
}

/** The position where a page starts, from a cursor. Cursors are authenticated, so their content is trusted. */
function placeIn(place: Json | undefined): { ranking: string | undefined; from: number } {
    if (place === undefined) return { ranking: undefined, from: 0 };
    const [ranking, from] = place as [string, number];
    return { ranking, from };
}

/** Records the words of the task in a look-up session. Fetches of that session later improve the ranking for similar tasks. */
function metaOf({ app, caller, query }: FindCall, total: number, search?: Search): FindMeta {
    const sessionId = newTimedId('ses', Date.now());
    if (caller !== undefined && search !== undefined && total > 0) {
        app.lookUpSessions.record({ id: sessionId, accountId: caller.accountId, words: memorableTaskWords(search) });
    }
    const suggestion = total === 0 && query.task !== undefined ? suggestRequest(query.task, query) : undefined;
    return defined({ session_id: caller === undefined ? undefined : sessionId, suggestion });
}

/**
 * Counts a search in the `find` window of its account, or of its address without a key. If the counters are unreachable, the search is
 * not counted.
 * @throws Refusal RATE_LIMITED
 */
async function countFind({ app, caller, clientAddress }: OpenCall<unknown, unknown, unknown>): Promise<void> {
    const identity = `find:${caller === undefined ? `ip:${limitIdentity(clientAddress)}` : `account:${caller.accountId}`}`;
    const verdict = await app.limits.take({ identity, windows: [FINDS] }).catch(() => undefined);
    if (verdict === undefined || verdict.ok) return;
    app.metrics.rateLimited.inc({ plan: caller?.plan ?? 'anonymous', window: 'find' });
    const message = `The window find is full: ${FINDS.limit} searches a minute ${caller === undefined ? 'from one address' : 'of one account'}.`;
    throw new Refusal('RATE_LIMITED', message, { retryAfter: verdict.retryAfter });
}

/** The shortest task that a schema request accepts, in characters. */
const MIN = 20;
const PADDING = 'An endpoint for this task: ';

/**
 * Suggests a body for POST /v1/schema-requests for a task without matches; `missing` names the fields that the caller must add.
 * Undefined if the task contains something that looks like a secret.
 */
function suggestRequest(task: string, query: EndpointsQuery): FindMeta['suggestion'] {
    if (findSecrets(task) !== undefined) return undefined;
    const written = normaliseNewlines(task).trim();
    const domain = query.site === undefined ? domainIn(written) : readSite(query.site, '/site').site;
    const request = defined<NonNullable<FindMeta['suggestion']>['request']>({
        domain,
        task: [...written].length < MIN ? `${PADDING}${written}` : written,
        intent_category: query.category,
        read_or_write: query.effect,
    });
    return domain === undefined ? { request, missing: ['domain'] } : { request };
}

/** The domain from the first word that is a domain name or a URL. */
function domainIn(task: string): string | undefined {
    for (const word of task.split(/[\s,;()<>"']+/)) {
        const host = /^https?:\/\//i.test(word) ? URL.parse(word)?.hostname : word.replace(/[.:?!]+$/, '');
        if (host === undefined || !LIKE_A_DOMAIN.test(host)) continue;
        const name = normaliseSite(host);
        if (name.ok && registrableDomain(name.site) !== undefined) return name.site;
    }
    return undefined;
}

const LIKE_A_DOMAIN = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}$/u;

/** The searched task, and how well an endpoint fits it. */
interface Fit {
    /** The significant words of the task. */
    words: readonly string[];
    score: number;
}

/** An endpoint as GET /v1/endpoints returns it. @param fit undefined without a task */
function presentFound(row: EndpointRow, fit: Fit | undefined): FoundEndpoint {
    const { site, name: endpoint, entry, effect } = row;
    const { title, description, required, optional, fields, hosted, unit, maxResults, example } = entry;
    return {
        site,
        title,
        endpoint,
        kind: row.kind,
        effect,
        description,
        required,
        optional,
        returns: { fields },
        credits: row.siteCredits,
        billing_unit: unit,
        max_results: unit === 'result' ? maxResults : null,
        verified: row.verifiedAt !== null,
        verified_at: row.verifiedAt?.toISOString() ?? null,
        claim: row.claim,
        health: { success_rate_7d: row.successRate, p95_ms: row.p95Ms },
        needs_connection: entry.needsConnection ?? false,
        hosted,
        score: fit === undefined ? null : Math.round(Math.min(1, fit.score) * 1000) / 1000,
        matched: fit === undefined ? [] : fieldsWith(fit.words, row.search),
        fetch:
            hosted && example !== null
                ? { site, endpoint, params: example, ...(effect === 'write' ? { dry_run: true as const } : {}) }
                : null,
    };
}
