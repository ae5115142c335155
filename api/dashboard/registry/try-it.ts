import { isWebToken, newWebToken } from '../../../shared/domain/accounts/web-token.ts';
import { writeJson } from '../../../shared/domain/json/bounded-json.ts';
import type { Endpoint, JsonObject } from '../../../shared/domain/types.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import type { Caller } from '../../../shared/store/accounts/callers.ts';
import { actingCaller, CHOOSE_KEY, keysToActWith } from '../callers.ts';
import { keepTyped, type Problems } from '../fields.ts';
import type { ApiAnswer } from '../internal-api.ts';
import { type Answer, pageNotFound, type Sent, type Shown, type WorkspaceVisit } from '../page.ts';
import { type CallCode, type CopiedCall, copyAs } from './copy-as.ts';
import { describeEndpoint } from './describe-endpoint.ts';
import { findSite } from './find-site.ts';
import { paramFields, readParams, toProblems } from './try-form.ts';

/** Maximum number of characters that the page shows of a result. */
const SHOWN = 100_000;

interface Tried {
    site: string;
    version: number;
    endpoint: Endpoint;
    siteCredits: number;
}

/** GET /registry/{site}/try/{endpoint}: the form for one call. */
export async function showTry(visit: WorkspaceVisit): Promise<Answer> {
    const tried = await findTried(visit);
    return 'instead' in tried ? tried.instead : show(visit, tried, {});
}

/**
 * POST: the step `price` shows what the call would send and cost. The step `run` sends it. Its idempotency key ensures that the call is
 * sent and charged only once, even if the form is sent again. A call that changes something at the site also needs the confirmation `sure`.
 */
export async function tryIt(visit: WorkspaceVisit): Promise<Answer> {
    const tried = await findTried(visit);
    if ('instead' in tried) return tried.instead;
    const { fields } = visit;
    const as = await actingCaller(visit);
    if (as === undefined) return show(visit, tried, { problems: { key: CHOOSE_KEY } });
    const { params, problems } = readParams(tried.endpoint, fields);
    const wanted = fields.get('max_results') ?? '';
    if (wanted !== '' && !/^[1-9]\d{0,3}$/.test(wanted))
        return show(visit, tried, { problems: { ...problems, max_results: 'Enter a number from 1 to 1000.' } });
    if (Object.keys(problems).length > 0) return show(visit, tried, { problems });
    const body = {
        site: tried.site,
        endpoint: tried.endpoint.name,
        version: tried.version,
        params,
        ...(wanted === '' ? {} : { max_results: Number(wanted) }),
    };
    const once = fields.get('once') ?? '';
    const isPriced = fields.get('step') === 'run' && isWebToken(once) && fields.get('version') === String(tried.version);
    if (isPriced && (tried.endpoint.effect === 'read' || fields.get('sure') === 'yes')) return run(visit, tried, { body, as, once });
    const problem: Problems = isPriced ? { sure: 'Please confirm that you want to send this.' } : {};
    return price(visit, tried, { body, as }, problem);
}

interface Order {
    body: { params: JsonObject; max_results?: number };
    as: Caller;
}

async function price(visit: WorkspaceVisit, tried: Tried, { body, as }: Order, problems: Problems): Promise<Shown> {
    const answer = await visit.ask({ method: 'POST', path: '/v1/fetch', body: { ...body, dry_run: true }, as });
    if (!answer.ok) return refuse(visit, tried, answer.refused);
    const { data, meta } = answer.body as {
        data: { request: { method: string; url: string; headers: Record<string, string>; body: unknown }; credits_max: number };
        meta: { credits_remaining: number };
    };
    const { request, credits_max: maxCredits } = data;
    const priced = {
        method: request.method,
        url: request.url,
        headers: Object.entries(request.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n'),
        body:
            request.body === null
                ? undefined
                : typeof request.body === 'string'
                  ? request.body.slice(0, SHOWN).toWellFormed()
                  : writeJson(request.body, SHOWN, { indent: 2 }).text,
        maxCredits,
        left: meta.credits_remaining,
        once: newWebToken(),
        keyName: as.keyName,
    };
    return show(visit, tried, { priced, problems });
}

async function run(visit: WorkspaceVisit, tried: Tried, { body, as, once }: Order & { once: string }): Promise<Shown> {
    const answer = await visit.ask({ method: 'POST', path: '/v1/fetch', body, headers: { 'idempotency-key': `page-${once}` }, as });
    if (!answer.ok && answer.refused.code === 'INVALID_PARAMS') return refuse(visit, tried, answer.refused);
    return show(visit, tried, { result: answer.ok ? resultOf(answer) : { refused: answer.refused }, code: codeOf(visit, tried, body) });
}

function codeOf({ app }: WorkspaceVisit, { site, endpoint }: Tried, { params, max_results: maxResults }: Order['body']) {
    const call: CopiedCall = { base: app.publicUrl(), site, endpoint: endpoint.name, effect: endpoint.effect, params };
    return copyAs(maxResults === undefined ? call : { ...call, maxResults });
}

function resultOf({ body, headers, isCut }: ApiAnswer & { ok: true }) {
    const { data, meta } = body as { data: unknown; meta: object };
    const { text, isWhole } = writeJson(data, SHOWN, { indent: 2 });
    return {
        text,
        isCut: isCut || !isWhole,
        meta,
        isReplayed: headers['idempotent-replayed'] === 'true',
    };
}

function refuse(visit: WorkspaceVisit, tried: Tried, refused: ErrorBody): Promise<Shown> {
    const isAboutForm = refused.code === 'INVALID_PARAMS' || refused.code === 'VALIDATION_ERROR';
    return show(visit, tried, isAboutForm ? { problems: toProblems(tried.endpoint, refused) } : { result: { refused } });
}

/** @throws Refusal NOT_FOUND if the latest version does not have the endpoint, or the endpoint is not hosted */
async function findTried(visit: WorkspaceVisit): Promise<Tried | { instead: Shown | Sent }> {
    const found = await findSite(visit);
    if ('instead' in found) return found;
    const { site, siteState } = found;
    const loaded = siteState.version === undefined ? undefined : await visit.app.versions.load(siteState.version.versionId);
    const endpoint = loaded?.endpoints.get(visit.params['endpoint'] ?? '');
    if (loaded === undefined || endpoint === undefined || !endpoint.hosted) throw pageNotFound();
    return { site, version: loaded.version, endpoint, siteCredits: siteState.siteCredits };
}

async function show(
    visit: WorkspaceVisit,
    { site, version, endpoint, siteCredits }: Tried,
    { problems = {}, ...more }: { problems?: Problems; priced?: object; result?: object; code?: CallCode | undefined },
): Promise<Shown> {
    const { fields, workspace } = visit;
    const keys = await keysToActWith(visit);
    const params = paramFields(endpoint);
    const kept = keepTyped(fields);
    return {
        view: 'registry/try',
        title: `Try ${endpoint.name} of ${site}`,
        model: {
            site,
            version,
            endpoint: describeEndpoint(endpoint, { siteCredits, health: undefined }),
            isByResult: endpoint.billing.unit === 'result',
            params,
            isShortened: endpoint.params.length > params.length,
            keys,
            workspaceName: workspace.name,
            problems,
            typed: kept,
            sent: ['key', 'max_results', ...params.map(({ name }) => name)].map((name) => ({ name, value: fields.get(name) ?? '' })),
            priced: undefined,
            result: undefined,
            code: undefined,
            ...more,
        },
    };
}
