import { isTextFormat } from '../fetch/text-template.ts';
import { type Inliner, inlinerFor } from '../json/schema/inline.ts';
import type { Endpoint, JsonObject, PackageAuth, PackageDocument } from '../types.ts';
import { readEndpoint, writtenSteps } from './endpoint.ts';
import { bodyParamsOf, requestBodyOf, responsesOf } from './openapi-export/bodies.ts';
import { parametersOf } from './openapi-export/parameters.ts';
import { createPlaces, type TemplateParts, takeApart } from './openapi-export/places.ts';
import { securityOf, securitySchemesOf } from './openapi-export/security.ts';

interface PublishedVersion {
    version: number;
    versionHash: string;
    publishedAt: Date;
}

/**
 * A site as an OpenAPI 3.1 document (docs/api.md, "The registry"). Its operations are calls of the site itself, not of Routebook. The name of
 * an endpoint becomes the `operationId`. Fields under `x-routebook` describe what OpenAPI cannot express.
 */
export function exportOpenApi(document: PackageDocument, { version, versionHash, publishedAt }: PublishedVersion): JsonObject {
    const endpoints = document.endpoints.map(readEndpoint).map((endpoint) => ({ endpoint, parts: takeApart(endpoint) }));
    const home = endpoints[0]?.parts.origin ?? `https://${document.site}`;
    const placeFor = createPlaces();
    const inliner = inlinerFor(document);
    const { auth = [] } = document;
    const securitySchemes = securitySchemesOf(auth);
    const paths = new Map<string, JsonObject>();
    for (const { endpoint, parts } of endpoints) {
        const method = endpoint.method.toLowerCase();
        const place = placeFor(method, parts, endpoint.name);
        paths.set(place, { ...paths.get(place), [method]: operationOf(endpoint, { parts, home, inliner, auth }) });
    }
    return {
        openapi: '3.1.0',
        info: {
            title: document.title,
            version: String(version),
            ...(document.description === undefined ? {} : { description: document.description }),
        },
        servers: [{ url: home }],
        security: [],
        paths: Object.fromEntries(paths),
        ...(securitySchemes === undefined ? {} : { components: { securitySchemes } }),
        'x-routebook': {
            site: document.site,
            intent_category: document.intent_category,
            ...(document.pace === undefined ? {} : { pace: document.pace }),
            version,
            version_hash: versionHash,
            published_at: publishedAt.toISOString(),
        },
    };
}

interface Context {
    parts: TemplateParts;
    /** The origin of the document's first server. */
    home: string;
    inliner: Inliner;
    auth: readonly PackageAuth[];
}

function operationOf(endpoint: Endpoint, { parts, home, inliner, auth }: Context): JsonObject {
    const { name, kind, description, effect, hosted, prepare, pagination, bodyFormat } = endpoint;
    const body = requestBodyOf(endpoint, inliner);
    const text = body !== undefined && isTextFormat(bodyFormat) ? endpoint.body : undefined;
    return {
        operationId: name,
        summary: name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' '),
        ...(description === '' ? {} : { description }),
        ...(parts.origin === home ? {} : { servers: [{ url: parts.origin }] }),
        parameters: parametersOf(endpoint, parts, inliner),
        ...(body === undefined ? {} : { requestBody: body }),
        responses: responsesOf(endpoint, inliner),
        ...(auth.length === 0 ? {} : { security: securityOf(endpoint, auth) }),
        'x-routebook': {
            kind,
            effect,
            hosted,
            ...(prepare === undefined ? {} : { prepare: writtenSteps(prepare) as unknown as JsonObject }),
            ...(pagination === undefined ? {} : { pagination: pagination.style }),
            ...(text === undefined ? {} : { body: text, body_params: bodyParamsOf(endpoint, inliner) }),
        },
    };
}
