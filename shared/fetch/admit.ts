import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { type Binding, type BindingAsText, bindParams } from '../domain/fetch/bind-params.ts';
import { buildUrl } from '../domain/fetch/build-request.ts';
import { withPlaceholderValues } from '../domain/fetch/prepared-values.ts';
import { createParamValidator, WORK_OF_A_TURN } from '../domain/fetch/validate-params.ts';
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
import * as schemas from '../store/registry/schemas.ts';
import { checkEffect, checkPolicy, checkPrice, checkUrl } from './check-rights.ts';
import { chooseConnection } from './choose-connection.ts';
import { checkCursor, type OpenedCursor, openFetchCursor } from './fetch-cursor.ts';
import type { FetchOrder } from './order.ts';

/** A call that its package accepts: endpoint, params and price. */
export interface Admitted {
    ok: true;
    found: Found;
    values: Values;
    price: pricing.Price;
    /** Whose credential is sent. */
    connection: UsableConnection | undefined;
    /** Where the walk over pages goes on. */
    cursor: OpenedCursor | undefined;
}

/** Who asks for what; the parts of an order that decide whether it is admitted. */
type Asked = Pick<FetchOrder, 'caller' | 'body'>;

/** With its cursor opened, whose version it runs. */
type Question = Asked & {
    cursor?: OpenedCursor | undefined;
    /** Whether problems name similar params; true by default. */
    suggests?: boolean;
};

/**
 * Resolves a call to its endpoint and price, or to the reason why its package refuses it. It uses the remembered site state where the call
 * passes and the hold checks that state. In all other cases it reads the database.
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, FORBIDDEN, INVALID_PARAMS, VALIDATION_ERROR, INVALID_CURSOR: these end the call uncounted.
 */
export async function admit(app: App, asked: Asked): Promise<Admitted | RefusedCall> {
    const question = await openQuestion(app, asked);
    const { dry_run: isDry, max_age: maxAge = 0 } = question.body;
    const isCheckedAgain = isDry !== true && maxAge === 0;
    return (isCheckedAgain ? await fromMemory(app, question) : undefined) ?? checkFresh(app, question);
}

/** Does the same with the current state from the database. */
export async function admitFresh(app: App, asked: Asked): Promise<Admitted | RefusedCall> {
    return checkFresh(app, await openQuestion(app, asked));
}

async function openQuestion(app: App, { caller, body }: Asked): Promise<Question> {
    const cursor = await openFetchCursor(app, caller, body);
    return { caller, body: cursor === undefined ? body : { ...body, version: cursor.version }, cursor };
}

async function checkFresh(app: App, question: Question): Promise<Admitted | RefusedCall> {
    const found = await findEndpoint(app, question.body, (asked) => app.latest.find(asked), question.cursor);
    if (!found.ok) return found;
    return checkFound(app, question, found).catch((error: unknown) => {
        // What is wrong with the connection counts like an unknown endpoint.
        if (!(error instanceof Refusal) || !COUNTED.has(refusalEntry(error.code).status)) throw error;
        return { ok: false, site: found.site, isKnown: true, refusal: error };
    });
}

const COUNTED: ReadonlySet<number> = new Set([404, 422]);

async function fromMemory(app: App, question: Question): Promise<Admitted | undefined> {
    try {
        const found = await findEndpoint(app, question.body, app.latest.recall, question.cursor);
        return found?.ok === true ? await checkFound(app, question, found) : undefined;
    } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
    }
}

/** Checks a call whose endpoint is known. @throws Refusal as `admit` does */
export async function checkFound(app: App, { caller, body, cursor, suggests }: Question, found: Found): Promise<Admitted> {
    await checkEffect(app, caller, found);
    refuseWithoutPages(found, body);
    const values = await bindValues(found, body, suggests);
    checkUrl(found.policy, () => buildUrl(found.endpoint, withPlaceholderValues(found.endpoint, values)));
    const connection = await chooseConnection(app, caller, found, body);
    if (cursor !== undefined) checkCursor(cursor, values, connection);
    const limits = { maxCredits: body.max_credits, maxResults: body.max_results, maxPages: body.max_pages };
    const price = pricing.priceOrder({ ...found, ...limits });
    if (!price.ok) throw new Refusal('VALIDATION_ERROR', undefined, { details: [price.problem] });
    // A dry run sends nothing: it tells the price that is to be confirmed.
    if (body.dry_run !== true) await checkPrice(app, caller, found, price.unit * price.maxUnits);
    return { ok: true, found, values, price, connection, cursor };
}

/** @throws Refusal VALIDATION_ERROR for what only endpoints with pages take */
function refuseWithoutPages({ endpoint }: Found, body: FetchRequest): void {
    const given = endpoint.pagination === undefined ? (['cursor', 'max_pages', 'partial'] as const).filter((field) => field in body) : [];
    if (given.length === 0) return;
    const message = `The endpoint ${endpoint.name} has no pages: leave this field out.`;
    const details = given.map((field) => ({ path: `/${field}`, code: 'INVALID_VALUE' as const, message }));
    throw new Refusal('VALIDATION_ERROR', undefined, { details });
}

/**
 * Validates the params of a call: on the event loop within the step limit of one turn, otherwise in a thread.
 * @throws Refusal INVALID_PARAMS, SERVICE_UNAVAILABLE
 */
export async function bindValues(found: Found, { params = {} }: FetchRequest, suggests = true): Promise<Values> {
    const bound = bindHere(found, params, suggests) ?? (await bindAside(found, params));
    if (bound.ok) return bound.values;
    throw new Refusal('INVALID_PARAMS', undefined, { details: bound.problems });
}

function bindHere({ endpoint }: Found, params: JsonObject, suggests: boolean): Binding | undefined {
    try {
        return bindParams(endpoint, params, createParamValidator({ steps: WORK_OF_A_TURN }), suggests);
    } catch (error) {
        if (error instanceof TooMuchWork) return undefined;
        throw error;
    }
}

const thread = createSideThread(new URL('./bind-thread.ts', import.meta.url));

/** Queues by site, since the site's own package causes the work. @throws Refusal SERVICE_UNAVAILABLE */
async function bindAside({ endpoint, registrable }: Found, params: JsonObject): Promise<Binding> {
    try {
        const answer = await thread.run<BindingAsText>(registrable, { endpoint, params: JSON.stringify(params) });
        // Values have no prototype.
        return answer.ok ? { ok: true, values: Object.assign(Object.create(null), parseExact(answer.values)) } : answer;
    } catch (cause) {
        if (!(cause instanceof SideThreadFailure)) throw cause;
        throw new Refusal('SERVICE_UNAVAILABLE', 'The params could not be checked in time.', { retryAfter: 10 }, { cause });
    }
}

export interface Found {
    ok: true;
    site: string;
    registrable: string;
    versionId: number;
    version: number;
    endpoint: Endpoint;
    /** How the version sends credentials. */
    offer: AuthOffer;
    /** Credits of one unit. */
    siteCredits: number;
    /** Units that may be billed at most, since a call that names no version pays no more than it did within the last 24 h. */
    unitsCap: number | undefined;
    /** The operator's share for the site; null: half of all slots. */
    siteConcurrency: number | null;
    /** The operator's rate limit in upstream requests per second; null: no limit. */
    siteRate: number | null;
    /** Requests a minute to each host that the domain's latest versions ask for. */
    paces: schemas.SiteState['paces'];
    /** Whether connections may hold session cookies. */
    takesCookies: boolean;
    policy: schemas.SiteState['policy'];
    /** The revision of the site state. */
    revision: string;
}

/** The refusal of a call: 404 or 422. It counts against the rate limit, so it is thrown after counting. */
export interface RefusedCall {
    ok: false;
    site: string;
    /** Whether any version of the site was ever published. */
    isKnown: boolean;
    refusal: Refusal;
}

/** Stands for an unknown hash; 0 would mean the latest version. */
const NO_VERSION = -1;

/**
 * Finds the endpoint of a call, in the given version or the latest.
 * @param look reads the site state; where it returns undefined, so does this function
 * @param cursor the version is that of a call before, which may have named none
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED: these end the call uncounted.
 */
export async function findEndpoint<Seen extends schemas.SiteState | undefined>(
    app: App,
    { site: written, endpoint: name, version: named }: FetchRequest,
    look: (question: schemas.SiteQuestion) => Seen | Promise<Seen>,
    cursor?: OpenedCursor,
): Promise<Found | RefusedCall | (undefined & Seen)> {
    const { site, registrable } = readSite(written, '/site');
    const number = typeof named === 'string' ? ((await schemas.findVersion(app.db, site, named))?.version ?? NO_VERSION) : named;
    const siteState = await look({ site, registrable, version: number });
    if (siteState === undefined) return undefined as undefined & Seen;
    if (siteState.isBlocked) throw siteBlocked();
    const keep = (refusal: Refusal): RefusedCall => ({ ok: false, site, isKnown: siteState.isKnown, refusal });
    const { version } = siteState;
    if (version === undefined || !schemas.mayRun(version)) {
        return keep(named === undefined || !siteState.isKnown ? siteNotFound(site) : new Refusal('VERSION_NOT_FOUND'));
    }
    const loaded = await app.versions.load(version.versionId);
    const endpoint = loaded?.endpoints.get(name);
    if (loaded === undefined || endpoint === undefined) {
        const extras = {
            // Computed when it is read, since it takes up to 10 ms and a batch may name 100,000 unknown endpoints.
            get didYouMean() {
                return didYouMean(name, [...(loaded?.endpoints.keys() ?? [])]);
            },
        };
        return keep(new Refusal('ENDPOINT_NOT_FOUND', undefined, extras));
    }
    if (!endpoint.hosted) return keep(new Refusal('ENDPOINT_NOT_HOSTED'));
    if (isTooComplex(endpoint)) return keep(new Refusal('ENDPOINT_NOT_HOSTED', TOO_COMPLEX));
    await checkPolicy(app, siteState.policy, endpoint, { registrable, versionId: version.versionId });
    const { siteCredits, siteConcurrency, siteRate, paces, takesCookies, policy, latestOfDay, revision } = siteState;
    const isNamed = cursor === undefined ? named !== undefined : cursor.named !== null;
    const isAlone = isNamed || latestOfDay.every((id) => id === version.versionId);
    return {
        ok: true,
        site,
        registrable,
        versionId: version.versionId,
        version: version.version,
        endpoint,
        offer: { auth: loaded.auth, hosts: loaded.hosts },
        siteCredits,
        siteConcurrency,
        siteRate,
        paces,
        takesCookies,
        policy,
        revision,
        unitsCap: isAlone ? undefined : await schemas.lowestMaxUnits(app.versions, latestOfDay, name),
    };
}

const TOO_COMPLEX = `This version was published under an earlier limit: the schemas of this endpoint's params may have at most ${MAX_PARAM_NODES.toLocaleString('en')} schemas in all. Publish a new version with simpler ones.`;

const checkedBefore = new WeakMap<Endpoint, boolean>();

/** Whether a version from before the current limits exceeds them. */
function isTooComplex(endpoint: Endpoint): boolean {
    const isPast = checkedBefore.get(endpoint) ?? hasTooManyNodes(endpoint);
    checkedBefore.set(endpoint, isPast);
    return isPast;
}
