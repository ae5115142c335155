import { Refusal } from '../../refusals.ts';
import { normaliseSite } from './site-name.ts';

/**
 * A site as a caller wrote it, normalised (docs/api.md, "Domains").
 * @param path JSON pointer of where it stood.
 * @throws Refusal INVALID_DOMAIN
 */
export function readSite(written: string, path: string): { site: string; registrable: string } {
    const name = normaliseSite(written);
    if (name.ok) return name;
    throw new Refusal('INVALID_DOMAIN', name.message, { details: [{ path, code: 'INVALID_DOMAIN', message: name.message }] });
}

/** The 404 that links to schema requests, and names sites that resemble this one. @param site normalised */
export function siteNotFound(site: string): Refusal {
    return new Refusal('SITE_NOT_FOUND', undefined, { soughtSite: site });
}

/** An operator blocked this domain; its maintainer cannot undo that. */
export function siteBlocked(): Refusal {
    return new Refusal('SITE_BLOCKED');
}
