import type { EndpointsQuery, FindMeta, FoundEndpoint } from '../../shared/contracts/endpoints.ts';
import { defined } from '../../shared/domain/defined.ts';
import { wordsOf } from '../../shared/domain/find/candidates.ts';
import { pageOf } from '../../shared/domain/find/order.ts';
import { memorableTaskWords, type Search } from '../../shared/domain/find/weigh.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import type { Json } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { FindFilters } from '../../shared/store/registry/find-endpoints.ts';
import { endpointRows } from '../../shared/store/registry/list-endpoints.ts';
import { withoutRefused } from '../../shared/store/registry/refused-endpoints.ts';
import { PlaceGone } from '../../shared/store/registry/search.ts';
import { type Page, readPage } from '../answers/paging.ts';
import type { Call, Reply } from '../call.ts';
import { countFind } from './count-find.ts';
import { meaningOf } from './embed-task.ts';
import { presentFound } from './present-endpoint.ts';
import { suggestRequest } from './suggest-request.ts';

type FindCall = Call<object, EndpointsQuery, undefined>;

const DEFAULT_LIMIT = 10;

/** GET /v1/endpoints: counts the search, finds endpoint ids, then reads and presents one page of them. */
export async function findEndpoints(call: FindCall): Promise<Reply<FoundEndpoint[]>> {
    const { query } = call;
    const filters = filtersOf(query);
    const about = [query.task ?? null, JSON.stringify(filters)];
    const page = await readPage({ ...call, query: { limit: DEFAULT_LIMIT, ...query } }, 'getEndpoints', about);
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
    const { ids, next, total } = await usedLists.page(filters, page).catch((error: unknown) => {
        if (error instanceof PlaceGone) throw new Refusal('INVALID_CURSOR', 'This cursor is too old; start again without one.');
        throw error;
    });
    const rows = await withoutRefused(browse, await endpointRows(browse, ids));
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
    const { ranking, from } = placeIn(page.from);
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

/** The position where a page starts, from a cursor. Cursors are sealed, so their content is trusted. */
function placeIn(place: Json | undefined): { ranking: string | undefined; from: number } {
    if (place === undefined) return { ranking: undefined, from: 0 };
    const [ranking, from] = place as [string, number];
    return { ranking, from };
}

/** Records the words of the task in a look-up session. Fetches of that session later improve the ranking for similar tasks. */
function metaOf({ app, caller, query }: FindCall, total: number, search?: Search): FindMeta {
    const sessionId = newId('ses');
    if (caller !== undefined && search !== undefined && total > 0) {
        app.lookUpSessions.record({ id: sessionId, accountId: caller.accountId, words: memorableTaskWords(search) });
    }
    const suggestion = total === 0 && query.task !== undefined ? suggestRequest(query.task, query) : undefined;
    return defined({ session_id: caller === undefined ? undefined : sessionId, suggestion });
}
