import { isUtf8 } from 'node:buffer';
import type { CatalogAnswer } from '../../shared/contracts/catalog.ts';
import { LazyEndpoints } from '../../shared/domain/package/large-package.ts';
import { checkIntent, exampleIntent, type IntentFault } from '../../shared/domain/search/intent.ts';
import { memorableWords, searchWords } from '../../shared/domain/search/ranking.ts';
import { readSite, siteBlocked, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { newId, newTimedId } from '../../shared/domain/text/ids.ts';
import { textProblem } from '../../shared/domain/text/text-rule.ts';
import { invalidField, Refusal, refusalEntry } from '../../shared/refusals.ts';
import { isPublishedForSite } from '../../shared/store/registry/ownership.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { countCall } from '../admission/count-call.ts';
import type { OpenCall, Reply } from '../call.ts';
import { presentEndpoints } from '../packages/present-endpoints.ts';
import { workOnPackage } from '../packages/work.ts';

/** GET /v1/catalog/{domain}. Checks the domain, then the intent, then counts the call. Calls for unknown sites count too. */
export async function lookUpCatalog(call: OpenCall<{ domain: string }, { intent?: string }, unknown>): Promise<Reply<CatalogAnswer>> {
    const { app, params, query } = call;
    const began = performance.now();
    const written = query.intent ?? readIntentHeader(call.header('x-service-intent'));
    const { site, registrable } = readSite(params.domain, '/domain');
    const intent = checkIntent(written);
    if (!intent.ok) throw intentRefused(intent.code, exampleIntent(written, site));
    const words = searchWords(intent.words);
    const { isBlocked, policy, siteCredits, latest, health, ...experience } = await app.lookUps.find({ site, registrable, words });
    if (isBlocked) throw siteBlocked();
    await countCall(call);
    if (latest === undefined) throw siteNotFound(site);
    const { ref: version } = latest;
    const loaded = await latest.load();
    const sessionId = newTimedId('ses', Date.now());
    app.lookUpSessions.record({ id: sessionId, site, accountId: call.caller?.accountId, words: memorableWords(words) });
    recordLookUp(call, { site, registrable, sessionId, version: version.version, durationMs: performance.now() - began });
    const isOfSite = policy?.writes === false && (await isPublishedForSite(app.db, { registrable, versionId: version.versionId }));
    const context = { words, siteCredits, policy, isPublishedForSite: isOfSite, auth: loaded.auth, health, ...experience };
    const head = { success: true as const, domain: site, session_id: sessionId };
    const schema = {
        version: version.version,
        version_hash: version.versionHash,
        verified: version.verifiedAt !== null,
        verified_at: version.verifiedAt?.toISOString() ?? null,
        claim: latest.claim,
        hosts: [...loaded.hosts],
        auth: [...loaded.auth],
    };
    const { endpoints } = loaded;
    if (!(endpoints instanceof LazyEndpoints)) {
        const { endpoints: offered, hidden } = presentEndpoints(loaded.inOrder, context);
        return { answer: { ...head, endpoints: offered, schema: { ...schema, ...hiddenNote(hidden) } } };
    }
    const { answer } = await workOnPackage('catalog', site, { endpoints: endpoints.toJson(), context });
    const tail = JSON.stringify({ schema: { ...schema, ...hiddenNote(answer.hidden) } });
    return { text: `${JSON.stringify(head).slice(0, -1)},"endpoints":${answer.endpoints},${tail.slice(1)}`, isKept: false };
}

function intentRefused(code: IntentFault, example: string): Refusal {
    return new Refusal(code, `${refusalEntry(code).meaning} For example: "${example}".`);
}

function hiddenNote(hidden: number): Pick<CatalogAnswer['schema'], 'refused_by_owner'> {
    return hidden === 0 ? {} : { refused_by_owner: hidden };
}

/** Header bytes arrive as Latin-1. Non-ASCII text in them is UTF-8. */
function readIntentHeader(header: string | undefined): string | undefined {
    const bytes = Buffer.from(header ?? '', 'latin1');
    const intent = isUtf8(bytes) ? bytes.toString() : header;
    const fault = textProblem(intent ?? '', { multiline: true });
    if (fault === undefined) return intent;
    throw invalidField('/intent', `The header X-Service-Intent ${fault}.`);
}

function recordLookUp(
    { app, caller, clientAddress, requestId }: OpenCall<unknown, unknown, unknown>,
    look: { site: string; registrable: string; sessionId: string; version: number; durationMs: number },
): void {
    app.usage.record({
        kind: 'catalog',
        operation: newId('op'),
        requestId,
        accountId: caller?.accountId,
        address: caller === undefined ? limitIdentity(clientAddress) : undefined,
        workspaceId: caller?.workspaceId,
        userId: caller?.userId,
        keyId: caller?.keyId,
        sessionId: look.sessionId,
        site: look.site,
        registrable: look.registrable,
        version: look.version,
        outcome: 'success',
        credits: 0,
        durationMs: look.durationMs,
    });
}
