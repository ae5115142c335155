import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import { hasTooManyNodes, MAX_PARAM_NODES } from '../domain/json/schema/count-nodes.ts';
import type { AuthOffer } from '../domain/package/auth.ts';
import { readSite, siteBlocked, siteNotFound } from '../domain/site/read-site.ts';
import { didYouMean } from '../domain/text/suggestions.ts';
import type { Endpoint } from '../domain/types.ts';
import { Refusal } from '../refusals.ts';
import { findVersion, mayRun } from '../store/registry/history.ts';
import type { Latest, SiteQuestion, SiteState } from '../store/registry/site-states.ts';
import { lowestMaxUnits } from '../store/registry/versions.ts';
import { checkHours, checkPolicy } from './check-rights.ts';
import type { OpenedCursor } from './fetch-cursor.ts';

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
export interface RefusedCall {
    ok: false;
    /** Whether any version of the site has ever been published. */
    isKnown: boolean;
    refusal: Refusal;
}

/** The version number for an unknown hash. 0 would mean the latest version. */
const NO_VERSION = -1;

interface FindOptions {
    /** The cursor of an earlier call. Its version applies, which the earlier call need not have named. */
    cursor?: OpenedCursor | undefined;
    /** Whether the call begins later, so that it may wait for the hours of the site. */
    isLater?: boolean | undefined;
}

/**
 * Finds the endpoint of a call, in the given version or the latest.
 * @param options.find reads the state of the site, for calls that share it
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, SITE_UNAVAILABLE. These refusals do not count against the rate limit.
 */
export async function findEndpoint(
    app: App,
    body: FetchRequest,
    { find = app.latest.find, ...options }: FindOptions & { find?: Latest['find'] } = {},
): Promise<Found | RefusedCall> {
    return endpointIn(app, body, await find(await questionOf(app, body)), options);
}

/** Like `findEndpoint`, by the cached state of the site. Undefined if none is cached. */
export async function recallEndpoint(app: App, body: FetchRequest, options: FindOptions): Promise<Found | RefusedCall | undefined> {
    const state = app.latest.recall(await questionOf(app, body));
    return state && endpointIn(app, body, state, options);
}

async function questionOf({ db }: App, { site: written, version: named }: FetchRequest): Promise<SiteQuestion> {
    const { site, registrable } = readSite(written, '/site');
    const version = typeof named === 'string' ? ((await findVersion(db, site, named))?.version ?? NO_VERSION) : named;
    return { site, registrable, version };
}

async function endpointIn(
    app: App,
    { endpoint: name, version: named }: FetchRequest,
    { isBlocked, isKnown, version, latestOfDay, ...ofSite }: SiteState,
    { cursor, isLater = false }: FindOptions,
): Promise<Found | RefusedCall> {
    const { site, registrable, policy } = ofSite;
    if (isBlocked) throw siteBlocked();
    const refuse = (refusal: Refusal): RefusedCall => ({ ok: false, isKnown, refusal });
    if (version === undefined || !mayRun(version)) {
        return refuse(named === undefined || !isKnown ? siteNotFound(site) : new Refusal('VERSION_NOT_FOUND'));
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
    await checkPolicy(app, policy, endpoint, { registrable, versionId: version.versionId });
    if (!isLater) checkHours(app, policy);
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

const TOO_COMPLEX = `This version was published under an earlier limit. The params of an endpoint may now have at most ${MAX_PARAM_NODES.toLocaleString('en')} schemas in all. Publish a new version with simpler params.`;

const complexityChecks = new WeakMap<Endpoint, boolean>();

/** Whether an endpoint that was published under earlier limits exceeds the current ones. */
function isTooComplex(endpoint: Endpoint): boolean {
    return getOrMake(complexityChecks, endpoint, () => hasTooManyNodes(endpoint));
}
