import { buildRequest } from '../../../shared/domain/fetch/build-request.ts';
import { exceedsFilledSize } from '../../../shared/domain/fetch/filled-size.ts';
import { shellWord } from '../../../shared/domain/text/shell-word.ts';
import type { Endpoint, Json } from '../../../shared/domain/types.ts';

/** Maximum number of params of a call, and of characters of its line. A page has many. */
const PARAMS = 40;
const MAX_LENGTH = 600;

/** Headers that only our workers need. */
const OURS = new Set(['user-agent', 'accept-encoding']);

/**
 * A `curl` line that calls the site itself with example values, which publishing checked. Undefined if a required one is missing, or if the
 * call is more than one GET.
 */
export function ownCall(endpoint: Endpoint): string | undefined {
    const { method, params, prepare, examples } = endpoint;
    if (method !== 'GET' || prepare !== undefined || params.length > PARAMS) return undefined;
    const given = examples[0]?.params ?? {};
    const values: Record<string, Json> = Object.create(null);
    for (const { name, required, example, default: fallback } of params) {
        const value = Object.hasOwn(given, name) ? given[name] : (fallback ?? (required ? example : undefined));
        if (value !== undefined) values[name] = value;
        else if (required) return undefined;
    }
    if (exceedsFilledSize(endpoint, values)) return undefined;
    const { url, headers } = buildRequest(endpoint, values, '');
    const own = Object.entries(headers).filter(([name]) => !OURS.has(name.toLowerCase()));
    // `-g`: curl reads brackets in a URL as a range.
    const line = ['curl', '-sg', shellWord(url), ...own.map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`)].join(' ');
    return line.length > MAX_LENGTH ? undefined : line;
}
