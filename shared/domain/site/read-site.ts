import { Refusal } from '../../refusals.ts';
import { normaliseSite } from './site-name.ts';

/** Normalises a site that a caller wrote (docs/api.md, "Domains") at a JSON pointer of the request. @throws Refusal INVALID_DOMAIN */
export function readSite(written: string, path: string): { site: string; registrable: string } {
    const name = normaliseSite(written);
    if (name.ok) return name;
    throw new Refusal('INVALID_DOMAIN', name.message, { details: [{ path, code: 'INVALID_DOMAIN', message: name.message }] });
}

/** The 404 that links to schema requests and suggests similar sites. @param site normalised */
export function siteNotFound(site: string): Refusal {
    return new Refusal('SITE_NOT_FOUND', undefined, { soughtSite: site });
}

/** The 403 that says how to find the maintainers of a domain, and how to prove that it is one's own. */
export function notMaintainer(registrable: string): Refusal {
    const { message } = new Refusal('NOT_MAINTAINER');
    return new Refusal('NOT_MAINTAINER', message.replace('this domain', registrable).replaceAll(/\{\w+\}/g, registrable));
}

/** The refusal for a domain that an operator blocked. Its maintainer cannot lift the block. */
export function siteBlocked(): Refusal {
    return new Refusal('SITE_BLOCKED');
}
