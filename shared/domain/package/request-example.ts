import type { Endpoint, JsonObject } from '../types.ts';

/** Examples for exported collections of requests. */

/** The params of the first example, or the required params with their defaults; `<name>` marks values to be filled in. */
function paramsOf({ examples: [first], params }: Endpoint): JsonObject {
    if (first !== undefined) return first.params;
    return Object.fromEntries(
        params.filter(({ required }) => required).map(({ name, default: fallback }) => [name, fallback ?? `<${name}>`]),
    );
}

/**
 * The body of a hosted fetch with the first example. Postman and Bruno replace `{{api_key}}` in a body by the caller's key, which would
 * then be sent to the site. In JSON, two adjacent opening braces occur only within a string, where the second one can be escaped.
 */
export function bodyOf(endpoint: Endpoint, { site, versionHash }: { site: string; versionHash: string }): string {
    const body = { site, endpoint: endpoint.name, version: versionHash, params: paramsOf(endpoint) };
    return JSON.stringify(body, undefined, 2).replaceAll('{{', '{\\u007b');
}

export function describeRequest(site: string, { description, effect, params }: Endpoint): string {
    const lines = params.map(
        ({ name, required, description: meaning }) => `- \`${name}\`${required ? ', required' : ''}${meaning === '' ? '' : `: ${meaning}`}`,
    );
    return [description, effect === 'write' ? `Changes something on ${site}.` : '', lines.join('\n')]
        .filter((part) => part !== '')
        .join('\n\n');
}
