import type { JsonObject, PackageDocument } from '../types.ts';
import { readEndpoint } from './endpoint.ts';
import { bodyOf, describeRequest } from './request-example.ts';

export interface PostmanCollection {
    info: { name: string; description: string; schema: string };
    auth: JsonObject;
    variable: { key: string; value: string; type: string }[];
    item: JsonObject[];
}

/**
 * The hosted endpoints of a package as a Postman collection (docs/api.md, "The registry"). Each request is a hosted fetch of this version. The
 * key of the caller is the variable `api_key`.
 * @param base URL of this Routebook, without a trailing slash
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
                    body: { mode: 'raw', raw: bodyOf(endpoint, { site, versionHash }), options: { raw: { language: 'json' } } },
                    description: describeRequest(site, endpoint),
                },
            })),
    };
}
