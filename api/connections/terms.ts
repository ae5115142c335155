import type { App } from '../../shared/app.ts';
import { type AuthOffer, type AuthTerms, termsOf } from '../../shared/domain/package/auth.ts';
import { readSite, siteBlocked, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { invalidField } from '../../shared/refusals.ts';
import { mayRun } from '../../shared/store/registry/history.ts';

/** How a site accepts credentials: by its latest version, and by the operator's settings. */
interface SiteOffer {
    site: string;
    offer: AuthOffer;
    takesCookies: boolean;
}

/** Reads how the latest version of a site sends credentials. @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, SITE_NOT_FOUND */
export async function mustFindOffer(app: App, written: string): Promise<SiteOffer> {
    const { site, registrable } = readSite(written, '/site');
    const { isBlocked, version, takesCookies } = await app.latest.find({ site, registrable });
    if (isBlocked) throw siteBlocked();
    const offer = version === undefined || !mayRun(version) ? undefined : await app.versions.load(version.versionId);
    if (offer === undefined) throw siteNotFound(site);
    return { site, offer, takesCookies };
}

/** Chooses the named entry, or the only one. @throws Refusal VALIDATION_ERROR */
export function chooseTerms(offer: AuthOffer, id: string | undefined): AuthTerms {
    const ids = offer.auth.map((entry) => entry.id);
    const [first] = ids;
    if (first === undefined) throw invalidField('/site', 'The schema of this site accepts no connections.');
    const names = ids.join(', ');
    if (id === undefined && ids.length > 1) throw invalidField('/auth_id', `auth_id is required. Choose one of: ${names}.`, 'REQUIRED');
    const terms = termsOf(offer, id ?? first);
    if (terms === undefined) throw invalidField('/auth_id', `Unknown auth_id. Choose one of: ${names}.`);
    return terms;
}
