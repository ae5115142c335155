import type { JsonObject, PackageDocument } from '../types.ts';
import { readEndpoint } from './endpoint.ts';
import { bodyOf, describeRequest } from './request-example.ts';

export interface BrunoCollection {
    name: string;
    version: '1';
    brunoConfig: JsonObject;
    root: JsonObject;
    items: JsonObject[];
    environments: JsonObject[];
}

/**
 * The hosted endpoints of a package as a Bruno collection (docs/api.md, "The registry"). Each request is a hosted fetch of this version. The
 * key of the caller is the secret `api_key` of the collection's environment.
 * @param base URL of this Routebook, without a trailing slash
 */
export function exportBruno(document: PackageDocument, { versionHash, base }: { versionHash: string; base: string }): BrunoCollection {
    const { site, title, description = '' } = document;
    const name = `${title} (${site})`;
    const variable = { type: 'text', enabled: true };
    return {
        name,
        version: '1',
        brunoConfig: { version: '1', name, type: 'collection' },
        root: { request: { auth: { mode: 'bearer', bearer: { token: '{{api_key}}' } } }, docs: description },
        items: document.endpoints
            .map(readEndpoint)
            .filter(({ hosted }) => hosted)
            .map((endpoint, place) => ({
                type: 'http',
                name: endpoint.name,
                seq: place + 1,
                request: {
                    method: 'POST',
                    url: '{{base_url}}/v1/fetch',
                    headers: [{ name: 'content-type', value: 'application/json', enabled: true }],
                    params: [],
                    auth: { mode: 'inherit' },
                    body: { mode: 'json', json: bodyOf(endpoint, { site, versionHash }) },
                    docs: describeRequest(site, endpoint),
                },
            })),
        environments: [
            {
                name: 'Routebook',
                variables: [
                    { ...variable, name: 'base_url', value: base, secret: false },
                    { ...variable, name: 'api_key', value: '', secret: true },
                ],
            },
        ],
    };
}
