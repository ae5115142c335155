import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import type { SiteState } from '../../../shared/store/registry/site-states.ts';
import { pageNotFound, type Sent, type Shown, type Visit } from '../page.ts';

export interface FoundSite {
    site: string;
    registrable: string;
    siteState: SiteState;
}

/**
 * Finds the site of the path. Returns `instead` a redirect if the name is not in its normal form, or a page that offers to request a schema
 * if the site is unknown.
 * @throws Refusal NOT_FOUND if the name is invalid
 */
export async function findSite({ app, params, path }: Visit): Promise<FoundSite | { instead: Shown | Sent }> {
    const written = params['site'] ?? '';
    const name = normaliseSite(written);
    if (!name.ok) throw pageNotFound();
    const { site, registrable } = name;
    if (site !== written) return { instead: { to: path.replace(encodeURIComponent(written), site).replace(written, site) } };
    const siteState = await app.latest.find({ site, registrable });
    if (siteState.isKnown) return { site, registrable, siteState };
    return { instead: siteAbsent(site, { wasKnown: false, near: await app.nearSites.find(site) }) };
}

/** A page with status 404 that says what the visitor can do. */
export function siteAbsent(site: string, why: { wasKnown: boolean; near: readonly string[] }): Shown {
    return { view: 'registry/absent', title: `${site} is not in the registry`, status: 404, model: { site, ...why } };
}
