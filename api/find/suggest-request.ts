import type { EndpointsQuery, FindMeta } from '../../shared/contracts/endpoints.ts';
import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { normaliseSite, registrableDomain } from '../../shared/domain/site/site-name.ts';
import { normaliseNewlines } from '../../shared/domain/text/text-rule.ts';

/** The shortest task that a schema request accepts, in characters. */
const MIN = 20;
const PADDING = 'An endpoint for this task: ';

/**
 * Suggests a body for POST /v1/schema-requests for a task without matches; `missing` names the fields that the caller must add.
 * Undefined if the task contains something that looks like a secret.
 */
export function suggestRequest(task: string, query: EndpointsQuery): FindMeta['suggestion'] {
    if (findSecrets(task) !== undefined) return undefined;
    const written = normaliseNewlines(task).trim();
    const domain = query.site === undefined ? domainIn(written) : readSite(query.site, '/site').site;
    const request = {
        ...(domain === undefined ? {} : { domain }),
        task: [...written].length < MIN ? `${PADDING}${written}` : written,
        ...(query.category === undefined ? {} : { intent_category: query.category }),
        ...(query.effect === undefined ? {} : { read_or_write: query.effect }),
    };
    return domain === undefined ? { request, missing: ['domain'] } : { request };
}

/** The domain from the first word that is a domain name or a URL. */
function domainIn(task: string): string | undefined {
    for (const word of task.split(/[\s,;()<>"']+/)) {
        const host = /^https?:\/\//i.test(word) ? URL.parse(word)?.hostname : word.replace(/[.:?!]+$/, '');
        if (host === undefined || !LIKE_A_DOMAIN.test(host)) continue;
        const name = normaliseSite(host);
        if (name.ok && registrableDomain(name.site) !== undefined) return name.site;
    }
    return undefined;
}

const LIKE_A_DOMAIN = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}$/u;
