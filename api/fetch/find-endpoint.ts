import type { App } from '../../shared/app.ts';
import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import { hasTooManyNodes, MAX_PARAM_NODES } from '../../shared/domain/json-schema/count-nodes.ts';
import { didYouMean } from '../../shared/domain/suggestions.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';
import * as schemas from '../../shared/store/schemas.ts';
import { readSite, siteBlocked, siteNotFound } from '../site.ts';
import { judgePolicy } from './judge-policy.ts';

export interface Found {
    ok: true;
    site: string;
    registrable: string;
    versionId: number;
    version: number;
    endpoint: Endpoint;
    isVerified: boolean;
    /** Credits of one unit. */
    siteCredits: number;
    /** Units that may be billed at most, since a call that names no version pays no more than it did within the last 24 h. */
    unitsCap: number | undefined;
    /** An operator's own share for the site; null: half of all slots. */
    siteConcurrency: number | null;
    /** Upstream requests a second that an operator set for the site; null: as fast as they come. */
    siteRate: number | null;
    policy: schemas.Standing['policy'];
    /** Of the site as it was found. */
    stamp: string;
}

/** What the package says no to: 404 or 422, which count in the windows, so that they are kept until those are taken. */
export interface Kept {
    ok: false;
    site: string;
    refusal: Refusal;
}

/** What a hash that was never published stands for: 0 would be the latest version. */
const NO_VERSION = -1;

/**
 * The endpoint that a call names, in the version that it names or the latest.
 * @param look how the site stands; where that is not known, undefined is the answer
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED: these end the call uncounted.
 */
export async function findEndpoint<Seen extends schemas.Standing | undefined>(
    app: App,
    { site: written, endpoint: name, version: named }: FetchRequest,
    look: (question: schemas.SiteQuestion) => Seen | Promise<Seen>,
): Promise<Found | Kept | (undefined & Seen)> {
    const { site, registrable } = readSite(written, '/site');
    const number = typeof named === 'string' ? ((await schemas.findVersion(app.db, site, named))?.version ?? NO_VERSION) : named;
    const standing = await look({ site, registrable, version: number });
    if (standing === undefined) return undefined as undefined & Seen;
    if (standing.isBlocked) throw siteBlocked();
    const keep = (refusal: Refusal): Kept => ({ ok: false, site, refusal });
    const { version } = standing;
    if (version === undefined || !schemas.mayRun(version)) {
        return keep(named === undefined || !standing.isKnown ? siteNotFound() : new Refusal('VERSION_NOT_FOUND'));
    }
    const loaded = await app.versions.load(version.versionId);
    const endpoint = loaded?.endpoints.get(name);
    if (loaded === undefined || endpoint === undefined) {
        return keep(new Refusal('ENDPOINT_NOT_FOUND', undefined, { didYouMean: didYouMean(name, [...(loaded?.endpoints.keys() ?? [])]) }));
    }
    if (!endpoint.hosted) return keep(new Refusal('ENDPOINT_NOT_HOSTED'));
    if (isTooComplex(endpoint)) return keep(new Refusal('ENDPOINT_NOT_HOSTED', TOO_COMPLEX));
    judgePolicy(app, standing.policy, endpoint, version.verifiedAt !== null);
    const { siteCredits, siteConcurrency, siteRate, policy, latestOfDay, stamp } = standing;
    const isAlone = named !== undefined || latestOfDay.every((id) => id === version.versionId);
    return {
        ok: true,
        site,
        registrable,
        versionId: version.versionId,
        version: version.version,
        endpoint,
        isVerified: version.verifiedAt !== null,
        siteCredits,
        siteConcurrency,
        siteRate,
        policy,
        stamp,
        unitsCap: isAlone ? undefined : await schemas.leastUnits(app.versions, latestOfDay, name),
    };
}

const TOO_COMPLEX = `The schemas of this endpoint's params are larger than is judged here since this version was published: at most ${MAX_PARAM_NODES.toLocaleString('en')} schemas in all. A new version with simpler ones can be called.`;

const judgedBefore = new WeakMap<Endpoint, boolean>();

/** Whether a version that was published before there were bounds is past them. */
function isTooComplex(endpoint: Endpoint): boolean {
    const isPast = judgedBefore.get(endpoint) ?? hasTooManyNodes(endpoint);
    judgedBefore.set(endpoint, isPast);
    return isPast;
}
