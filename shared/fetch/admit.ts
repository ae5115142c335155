import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { type Binding, type BindingAsText, bindParams } from '../domain/fetch/bind-params.ts';
import { buildUrl } from '../domain/fetch/build-request.ts';
import { withPlaceholderValues } from '../domain/fetch/prepared-values.ts';
import { createParamValidator, STEPS_PER_TURN } from '../domain/fetch/validate-params.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import { parseExact } from '../domain/json/exact-numbers.ts';
import { hasTooManyNodes, MAX_PARAM_NODES } from '../domain/json/schema/count-nodes.ts';
import { TooMuchWork } from '../domain/json/schema/patterns.ts';
import type { AuthOffer } from '../domain/package/auth.ts';
import * as pricing from '../domain/package/pricing.ts';
import { readSite, siteBlocked, siteNotFound } from '../domain/site/read-site.ts';
import { didYouMean } from '../domain/text/suggestions.ts';
import type { Endpoint, JsonObject, Values } from '../domain/types.ts';
import { createSideThread, SideThreadFailure } from '../platform/side-thread.ts';
import { Refusal, refusalEntry } from '../refusals.ts';
import type { UsableConnection } from '../store/connections/vault.ts';
import { findVersion, mayRun } from '../store/registry/history.ts';
import type { Latest, SiteQuestion, SiteState } from '../store/registry/site-states.ts';
import { lowestMaxUnits } from '../store/registry/versions.ts';
import { checkEffect, checkHours, checkPolicy, checkPrice, checkUrl } from './check-rights.ts';
import { chooseConnection } from './choose-connection.ts';
import { checkCursor, type OpenedCursor, openFetchCursor } from './fetch-cursor.ts';
import type { FetchOrder } from './order.ts';

/** A call that passed all checks: its endpoint, params and price. */
export interface Admitted {
    ok: true;
    found: Found;
    values: Values;
    price: pricing.Price;
    connection: UsableConnection | undefined;
    /** The position from which a paginated call continues. */
    cursor: OpenedCursor | undefined;
}

/** The parts of an order that decide whether it is admitted. */
type AdmissionRequest = Pick<FetchOrder, 'caller' | 'body'> & {
    /** Whether the call begins later, so that it may wait for the hours of the site. */
    isLater?: boolean;
};

/** An order whose cursor has been decrypted. The call runs the version of that cursor. */
type OpenedRequest = AdmissionRequest & {
    cursor?: OpenedCursor | undefined;
    /** Whether problems suggest similar param names; true by default. */
    suggests?: boolean;
};

/**
 * Resolves a call to its endpoint and price, or to the reason for its refusal. It uses the cached site state if the hold checks that state
 * again and the call passes. In all other cases it reads the database.
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, FORBIDDEN, INVALID_PARAMS, VALIDATION_ERROR, INVALID_CURSOR. These refusals do not count
 * against the rate limit.
 */
export async function admit(app: App, request: AdmissionRequest): Promise<Admitted | RefusedCall> {
    const opened = await openRequest(app, request);
    const { dry_run: isDry, max_age: maxAge = 0 } = opened.body;
    const isCheckedByHold = isDry !== true && maxAge === 0;
    return (isCheckedByHold ? await admitFromCache(app, opened) : undefined) ?? admitFromDatabase(app, opened);
}

/** Like `admit`, but always with the current state from the database. */
export async function admitFresh(app: App, request: AdmissionRequest): Promise<Admitted | RefusedCall> {
    return admitFromDatabase(app, await openRequest(app, request));
}

async function openRequest(app: App, { body, ...request }: AdmissionRequest): Promise<OpenedRequest> {
    const cursor = await openFetchCursor(app, request.caller, body);
    return { ...request, body: cursor === undefined ? body : { ...body, version: cursor.version }, cursor };
}

async function admitFromDatabase(app: App, opened: OpenedRequest): Promise<Admitted | RefusedCall> {
    const { body, cursor, isLater } = opened;
    const found = await findEndpoint(app, body, { cursor, isLater });
    if (!found.ok) return found;
    return checkFound(app, opened, found).catch((error: unknown) => {
        // A problem with the connection counts against the rate limit like an unknown endpoint.
        if (!(error instanceof Refusal) || !COUNTED_STATUSES.has(refusalEntry(error.code).status)) throw error;
        return { ok: false, site: found.site, isKnown: true, refusal: error };
    });
}

const COUNTED_STATUSES: ReadonlySet<number> = new Set([404, 422]);

async function admitFromCache(app: App, opened: OpenedRequest): Promise<Admitted | undefined> {
    try {
        const question = await questionOf(app, opened.body);
        const siteState = app.latest.recall(question);
        const found = siteState && (await endpointIn(app, opened.body, siteState, { question, cursor: opened.cursor }));
        if (found?.ok !== true) return undefined;
        checkHours(app, found.policy);
        return await checkFound(app, opened, found);
    } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
    }
}

/** Checks a call whose endpoint is known. @throws the same Refusals as `admit` */
export async function checkFound(app: App, { caller, body, cursor, suggests }: OpenedRequest, found: Found): Promise<Admitted> {
    await checkEffect(app, caller, found);
    rejectPageFields(found, body);
    const values = await bindValues(found, body, suggests);
    checkUrl(found.policy, () => buildUrl(found.endpoint, withPlaceholderValues(found.endpoint, values)));
    const connection = await chooseConnection(app, caller, found, body);
    if (cursor !== undefined) checkCursor(cursor, values, connection);
    const limits = { maxCredits: body.max_credits, maxResults: body.max_results, maxPages: body.max_pages };
    const price = pricing.priceOrder({ ...found, ...limits });
    if (!price.ok) throw new Refusal('VALIDATION_ERROR', undefined, { details: [price.problem] });
    // A dry run sends nothing. It reports the price that the caller has to confirm.
    if (body.dry_run !== true) await checkPrice(app, caller, found, price.unit * price.maxUnits);
    return { ok: true, found, values, price, connection, cursor };
}

/** @throws Refusal VALIDATION_ERROR if the call has fields that only endpoints with pages accept */
function rejectPageFields({ endpoint }: Found, body: FetchRequest): void {
    const given = endpoint.pagination === undefined ? (['cursor', 'max_pages', 'partial'] as const).filter((field) => field in body) : [];
    if (given.length === 0) return;
    const message = `The endpoint ${endpoint.name} has no pages: leave this field out.`;
    const details = given.map((field) => ({ path: `/${field}`, code: 'INVALID_VALUE' as const, message }));
    throw new Refusal('VALIDATION_ERROR', undefined, { details });
}

/** Validates params, on the event loop or, if they take long, in a thread. @throws Refusal INVALID_PARAMS, SERVICE_UNAVAILABLE */
export async function bindValues(found: Found, { params = {} }: FetchRequest, suggests = true): Promise<Values> {
    const bound = bindOnEventLoop(found, params, suggests) ?? (await bindInThread(found, params));
    if (bound.ok) return bound.values;
    throw new Refusal('INVALID_PARAMS', undefined, { details: bound.problems });
}

function bindOnEventLoop({ endpoint }: Found, params: JsonObject, suggests: boolean): Binding | undefined {
    try {
        return bindParams(endpoint, params, createParamValidator({ steps: STEPS_PER_TURN }), suggests);
    } catch (error) {
        if (error instanceof TooMuchWork) return undefined;
        throw error;
    }
}

const thread = createSideThread(new URL('./bind-thread.ts', import.meta.url));

/** The thread has one queue per site, because the package of the site causes the work. @throws Refusal SERVICE_UNAVAILABLE */
async function bindInThread({ endpoint, registrable }: Found, params: JsonObject): Promise<Binding> {
    try {
        const answer = await thread.run<BindingAsText>(registrable, { endpoint, params: JSON.stringify(params) });
        // Values are objects without a prototype.
        return answer.ok ? { ok: true, values: Object.assign(Object.create(null), parseExact(answer.values)) } : answer;
    } catch (cause) {
        if (!(cause instanceof SideThreadFailure)) throw cause;
        throw new Refusal('SERVICE_UNAVAILABLE', 'The params could not be checked in time.', { retryAfter: 10 }, { cause });
    }
}

export interface Found extends Omit<SiteState, 'isBlocked' | 'isKnown' | 'version' | 'latestOfDay'> {
    ok: true;
    versionId: number;
    version: number;
    endpoint: Endpoint;
    /** How the version sends credentials. */
    offer: AuthOffer;
    /** Maximum number of billed units. Without a version, the lowest one of the versions that were the latest within 24 h. */
    unitsCap: number | undefined;
}

/** The refusal of a call: 404 or 422. It counts against the rate limit, so the caller throws it after counting. */
interface RefusedCall {
    ok: false;
    site: string;
    /** Whether any version of the site has ever been published. */
    isKnown: boolean;
    refusal: Refusal;
}

/** The version number for an unknown hash. 0 would mean the latest version. */
const NO_VERSION = -1;

/**
 * Finds the endpoint of a call, in the given version or the latest.
 * @param options.find reads the site state, for calls that share it
 * @param options.cursor the cursor of an earlier call; its version applies, which the earlier call need not have named
 * @param options.isLater whether the call may wait for the hours of the site
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, SITE_UNAVAILABLE. These refusals do not count against the rate limit.
 */
export async function findEndpoint(
    app: App,
    body: FetchRequest,
    {
        find = app.latest.find,
        cursor,
        isLater = false,
    }: { find?: Latest['find']; cursor?: OpenedCursor | undefined; isLater?: boolean | undefined } = {},
): Promise<Found | RefusedCall> {
    const question = await questionOf(app, body);
    const found = await endpointIn(app, body, await find(question), { question, cursor });
    if (found.ok && !isLater) checkHours(app, found.policy);
    return found;
}

async function questionOf({ db }: App, { site: written, version: named }: FetchRequest): Promise<SiteQuestion> {
    const { site, registrable } = readSite(written, '/site');
    const version = typeof named === 'string' ? ((await findVersion(db, site, named))?.version ?? NO_VERSION) : named;
    return { site, registrable, version };
}

async function endpointIn(
    app: App,
    { endpoint: name, version: named }: FetchRequest,
    siteState: SiteState,
    { question: { site, registrable }, cursor }: { question: SiteQuestion; cursor: OpenedCursor | undefined },
): Promise<Found | RefusedCall> {
    if (siteState.isBlocked) throw siteBlocked();
    const refuse = (refusal: Refusal): RefusedCall => ({ ok: false, site, isKnown: siteState.isKnown, refusal });
    const { version } = siteState;
    if (version === undefined || !mayRun(version)) {
        return refuse(named === undefined || !siteState.isKnown ? siteNotFound(site) : new Refusal('VERSION_NOT_FOUND'));
    }
    const loaded = await app.versions.load(version.versionId);
    const endpoint = loaded?.endpoints.get(name);
    if (loaded === undefined || endpoint === undefined) {
        const extras = {
            // Computed on first use, because it takes up to 10 ms and a batch may name 100,000 unknown endpoints.
            get didYouMean() {
                return didYouMean(name, [...(loaded?.endpoints.keys() ?? [])]);
            },
        };
        return refuse(new Refusal('ENDPOINT_NOT_FOUND', undefined, extras));
    }
    if (!endpoint.hosted) return refuse(new Refusal('ENDPOINT_NOT_HOSTED'));
    if (isTooComplex(endpoint)) return refuse(new Refusal('ENDPOINT_NOT_HOSTED', TOO_COMPLEX));
    await checkPolicy(app, siteState.policy, endpoint, { registrable, versionId: version.versionId });
    const { isBlocked: _blocked, isKnown: _known, version: _version, latestOfDay, ...ofSite } = siteState;
    const isNamed = cursor === undefined ? named !== undefined : cursor.named !== null;
    const hasOneMaximum = isNamed || latestOfDay.every((id) => id === version.versionId);
    return {
        ok: true,
        ...ofSite,
        versionId: version.versionId,
        version: version.version,
        endpoint,
        offer: { auth: loaded.auth, hosts: loaded.hosts },
        unitsCap: hasOneMaximum ? undefined : await lowestMaxUnits(app.versions, latestOfDay, name),
    };
}

const TOO_COMPLEX = `This version was published under an earlier limit: the schemas of this endpoint's params may have at most ${MAX_PARAM_NODES.toLocaleString('en')} schemas in all. Publish a new version with simpler ones.`;

const complexityChecks = new WeakMap<Endpoint, boolean>();

/** Whether an endpoint that was published under earlier limits exceeds the current ones. */
function isTooComplex(endpoint: Endpoint): boolean {
    return getOrMake(complexityChecks, endpoint, () => hasTooManyNodes(endpoint));
}
