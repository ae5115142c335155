import type { FetchOutcome } from '../fetch/fetch-job.ts';
import { isLoginTitle } from '../fetch/login-words.ts';
import { escapePointer } from '../json/json-bounds.ts';
import type { Endpoint, Json, JsonObject } from '../types.ts';

/**
 * The outcome of an example. A page without any selected field, without an item of the list of results that the package declares, or a
 * sign-in page, is not the page that the endpoint describes, even with status 200. A list of JSON may be empty: the site says so itself.
 */
export function exampleOutcome(endpoint: Endpoint, outcome: FetchOutcome): FetchOutcome {
    if (!outcome.ok) return outcome;
    const login = isLoginTitle(`${endpoint.name.replaceAll('_', ' ')} ${endpoint.url}`) ? undefined : outcome.login;
    if (login === 'page') return unlike(outcome, 'The site answered with a page to sign in on.', []);
    if (!isOfSelectors(endpoint)) return outcome;
    const also = login === 'form' ? ', and it asks to sign in' : '';
    const missing = missingFields(endpoint, outcome.text);
    if (missing.length > 0) return unlike(outcome, `The page has none of the selected fields${also}.`, missing);
    const { results, hasList } = endpoint.billing;
    const [list = ''] = results.split('.');
    return hasList && outcome.results === 0 ? unlike(outcome, `The list of the page has no items${also}.`, [list]) : outcome;
}

/** A longer result, in characters, is never empty. */
const MAX_LENGTH = 64 * 1024;
const MAX_NAMED = 20;

/** Whether selectors read the result from HTML, where an empty list and a selector that no longer matches look the same. */
function isOfSelectors({ response: { type, select = {} } }: Endpoint): boolean {
    if (typeof select !== 'object') return false;
    return type === 'html' || (type === undefined && Object.values(select).some((entry) => typeof entry === 'object'));
}

/** The names of all outputs if the selectors found nothing in the HTML; otherwise empty. */
function missingFields({ response: { select } }: Endpoint, text: string): string[] {
    if (typeof select !== 'object' || text.length > MAX_LENGTH) return [];
    const data = JSON.parse(text) as JsonObject;
    const names = Object.keys(select);
    return names.every((name) => isEmpty(data[name] ?? null)) ? names.slice(0, MAX_NAMED) : [];
}

/** Recursion is bounded by the levels of `select`. */
function isEmpty(value: Json): boolean {
    if (value === null || value === '') return true;
    return typeof value === 'object' && Object.values(value).every(isEmpty);
}

function unlike(
    { upstream, hosts, startedAt, ranMs }: FetchOutcome & { ok: true },
    message: string,
    missing: readonly string[],
): FetchOutcome {
    return {
        ok: false,
        code: 'UPSTREAM_INVALID_RESPONSE',
        message,
        details: missing.map((name) => ({
            path: `/select/${escapePointer(name)}`,
            code: 'REQUIRED' as const,
            message: 'The selector finds nothing on the page.',
        })),
        upstream: { status: upstream.status, snippet: '' },
        attempts: upstream.attempts,
        startedAt,
        ...(hosts === undefined ? {} : { hosts }),
        ...(ranMs === undefined ? {} : { ranMs }),
    };
}
