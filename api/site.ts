import { normaliseSite } from '../shared/domain/site-name.ts';
import { Refusal } from '../shared/refusals.ts';

/**
 * A site as a caller wrote it, normalised (CONTRACT section 1.3).
 * @param path JSON pointer of where it stood.
 * @throws Refusal INVALID_DOMAIN
 */
export function readSite(written: string, path: string): { site: string; registrable: string } {
    const name = normaliseSite(written);
    if (name.ok) return name;
    throw new Refusal('INVALID_DOMAIN', name.message, { details: [{ path, code: 'INVALID_DOMAIN', message: name.message }] });
}

/** 404 that says where to ask for a schema. */
export function siteNotFound(): Refusal {
    return new Refusal('SITE_NOT_FOUND');
}

/** An operator took this domain out of the registry; who maintains it cannot put it back. */
export function siteBlocked(): Refusal {
    return new Refusal('SITE_BLOCKED');
}
