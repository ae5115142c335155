import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { hasTooManyNodes, MAX_PARAM_NODES } from '../domain/json/schema/count-nodes.ts';
import { readSite, siteBlocked, siteNotFound } from '../domain/site/read-site.ts';
import { didYouMean } from '../domain/text/suggestions.ts';
import type { Endpoint } from '../domain/types.ts';
import { Refusal } from '../refusals.ts';
import * as schemas from '../store/registry/schemas.ts';
import { judgePolicy } from './judge-rights.ts';

export interface Found {
    ok: true;
    site: string;
    registrable: string;
    versionId: number;
    version: number;
    endpoint: Endpoint;
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
    policy: schemas.SiteState['policy'];
    /** The revision of the site state. */
    revision: string;
}

/** The refusal of a call: 404 or 422. It counts against the rate limit, so it is thrown after counting. */
export interface Kept {
    ok: false;
    site: string;
    refusal: Refusal;
}

/** Stands for an unknown hash; 0 would mean the latest version. */
const NO_VERSION = -1;

/**
 * Finds the endpoint of a call, in the given version or the latest.
 * @param look reads the site state; where it returns undefined, so does this function
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED: these end the call uncounted.
 */
export async function findEndpoint<Seen extends schemas.SiteState | undefined>(
    app: App,
    { site: written, endpoint: name, version: named }: FetchRequest,
    look: (question: schemas.SiteQuestion) => Seen | Promise<Seen>,
): Promise<Found | Kept | (undefined & Seen)> {
    const { site, registrable } = readSite(written, '/site');
    const number = typeof named === 'string' ? ((await schemas.findVersion(app.db, site, named))?.version ?? NO_VERSION) : named;
    const siteState = await look({ site, registrable, version: number });
    if (siteState === undefined) return undefined as undefined & Seen;
    if (siteState.isBlocked) throw siteBlocked();
    const keep = (refusal: Refusal): Kept => ({ ok: false, site, refusal });
    const { version } = siteState;
    if (version === undefined || !schemas.mayRun(version)) {
        return keep(named === undefined || !siteState.isKnown ? siteNotFound() : new Refusal('VERSION_NOT_FOUND'));
    }
    const loaded = await app.versions.load(version.versionId);
    const endpoint = loaded?.endpoints.get(name);
    if (loaded === undefined || endpoint === undefined) {
        return keep(new Refusal('ENDPOINT_NOT_FOUND', undefined, { didYouMean: didYouMean(name, [...(loaded?.endpoints.keys() ?? [])]) }));
    }
    if (!endpoint.hosted) return keep(new Refusal('ENDPOINT_NOT_HOSTED'));
    if (isTooComplex(endpoint)) return keep(new Refusal('ENDPOINT_NOT_HOSTED', TOO_COMPLEX));
    await judgePolicy(app, siteState.policy, endpoint, { registrable, versionId: version.versionId });
    const { siteCredits, siteConcurrency, siteRate, paces, policy, latestOfDay, revision } = siteState;
    const isAlone = named !== undefined || latestOfDay.every((id) => id === version.versionId);
    return {
        ok: true,
        site,
        registrable,
        versionId: version.versionId,
        version: version.version,
        endpoint,
        siteCredits,
        siteConcurrency,
        siteRate,
        paces,
        policy,
        revision,
        unitsCap: isAlone ? undefined : await schemas.leastUnits(app.versions, latestOfDay, name),
    };
}

const TOO_COMPLEX = `The schemas of this endpoint's params are larger than is judged here since this version was published: at most ${MAX_PARAM_NODES.toLocaleString('en')} schemas in all. A new version with simpler ones can be called.`;

const judgedBefore = new WeakMap<Endpoint, boolean>();

/** Whether a version from before the current limits exceeds them. */
function isTooComplex(endpoint: Endpoint): boolean {
    const isPast = judgedBefore.get(endpoint) ?? hasTooManyNodes(endpoint);
    judgedBefore.set(endpoint, isPast);
    return isPast;
}
