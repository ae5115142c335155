import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import type { SiteState } from '../../../shared/store/registry/schemas.ts';
import { pageNotFound, type Sent, type Shown, type Visit } from '../page.ts';

interface FoundSite {
    site: string;
    registrable: string;
    siteState: SiteState;
}

/**
 * The site that a path names, by its one spelling; otherwise what to show instead: the page of a site that has no schema says where to
 * ask for one.
 * @throws Refusal NOT_FOUND for what is no name of a site
 */
export async function findSite({ app, params, path }: Visit): Promise<FoundSite | { instead: Shown | Sent }> {
    const written = params['site'] ?? '';
    const name = normaliseSite(written);
    if (!name.ok) throw pageNotFound();
    const { site, registrable } = name;
    if (site !== written) return { instead: { to: path.replace(encodeURIComponent(written), site).replace(written, site) } };
    const siteState = await app.latest.find({ site, registrable });
    if (siteState.isKnown) return { site, registrable, siteState };
    return { instead: siteAbsent(site, false) };
}

/** 404, and what can be done about it. */
export function siteAbsent(site: string, wasKnown: boolean): Shown {
    return { view: 'registry/absent', title: `${site} is not in the registry`, status: 404, model: { site, wasKnown } };
}
