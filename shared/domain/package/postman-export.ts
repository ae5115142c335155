import type { Endpoint, JsonObject, PackageDocument } from '../types.ts';
import { readEndpoint } from './endpoint.ts';

/** A Postman collection, format 2.1. */
export interface PostmanCollection {
    info: { name: string; description: string; schema: string };
    auth: JsonObject;
    variable: { key: string; value: string; type: string }[];
    item: JsonObject[];
}

/**
 * The hosted endpoints of a package as a Postman collection (docs/api.md, "Registry"): each request is a hosted fetch that names
 * its version. The caller's key is the variable `api_key`.
 * @param base URL of this Routebook, without a slash at its end
 */
export function exportPostman(document: PackageDocument, { versionHash, base }: { versionHash: string; base: string }): PostmanCollection {
    const { site, title, description = '' } = document;
    return {
        info: {
            name: `${title} (${site})`,
            description,
            schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
        },
        auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
        variable: [
            { key: 'base_url', value: base, type: 'string' },
            { key: 'api_key', value: '', type: 'string' },
        ],
        item: document.endpoints
            .map(readEndpoint)
            .filter(({ hosted }) => hosted)
            .map((endpoint) => ({
                name: endpoint.name,
                request: {
                    method: 'POST',
                    url: '{{base_url}}/v1/fetch',
                    header: [{ key: 'Content-Type', value: 'application/json' }],
                    body: {
                        mode: 'raw',
                        raw: withoutVariables({ site, endpoint: endpoint.name, version: versionHash, params: paramsOf(endpoint) }),
                        options: { raw: { language: 'json' } },
                    },
                    description: describe(site, endpoint),
                },
            })),
    };
}

/** The first example, or the required params: their defaults, and `<name>` where a value is to be filled in. */
function paramsOf({ examples: [first], params }: Endpoint): JsonObject {
    if (first !== undefined) return first.params;
    return Object.fromEntries(
        params.filter(({ required }) => required).map(({ name, default: fallback }) => [name, fallback ?? `<${name}>`]),
    );
}

/**
 * Postman replaces `{{api_key}}` in a body by the caller's key, which the site would then be sent. In JSON, two braces in a row
 * begin only inside of a string, where the second one can be escaped.
 */
function withoutVariables(body: JsonObject): string {
    return JSON.stringify(body, undefined, 2).replaceAll('{{', '{\\u007b');
}

function describe(site: string, { description, effect, params }: Endpoint): string {
    const lines = params.map(
        ({ name, required, description: meaning }) => `- \`${name}\`${required ? ', required' : ''}${meaning === '' ? '' : `: ${meaning}`}`,
    );
    return [description, effect === 'write' ? `Changes something on ${site}.` : '', lines.join('\n')]
        .filter((part) => part !== '')
        .join('\n\n');
}
