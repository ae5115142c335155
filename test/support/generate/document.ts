import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import type { RefusalCode } from '../../../shared/refusals.ts';

/** The parts of JSON Schema that our own document uses for requests. */
export interface Shape {
    type?: string | string[];
    enum?: Json[];
    const?: Json;
    anyOf?: Shape[];
    pattern?: string;
    minLength?: number;
    maxLength?: number;
    minimum?: number;
    maximum?: number;
    properties?: Record<string, Shape>;
    required?: string[];
    minProperties?: number;
    additionalProperties?: boolean;
}

export interface Parameter {
    name: string;
    in: 'path' | 'query' | 'header';
    required: boolean;
    schema: Shape;
}

interface Response {
    headers?: Record<string, { $ref: string }>;
    content?: { 'application/json': { schema: JsonObject; example?: Json } };
}

interface Described {
    operationId: string;
    security: object[];
    parameters: Parameter[];
    requestBody?: { content: { 'application/json': { schema: Shape; example?: Json } } };
    responses: Record<string, Response>;
}

export interface OpenApi {
    paths: Record<string, Record<string, Described>>;
    components: { headers: Record<string, { required: boolean; schema: JsonObject }> };
}

/** One operation of the document. */
export interface Operation {
    id: string;
    method: string;
    path: string;
    auth: 'required' | 'optional' | 'ignored';
    parameters: Parameter[];
    body: Shape | undefined;
    responses: Record<string, Response>;
    /** The codes of its documented refusals. */
    codes: RefusalCode[];
}

export function operationsOf({ paths }: OpenApi): Operation[] {
    return Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, described]) => ({
            id: described.operationId,
            method: method.toUpperCase(),
            path,
            auth: described.security.length === 0 ? 'ignored' : described.security.length === 1 ? 'required' : 'optional',
            parameters: described.parameters,
            body: described.requestBody?.content['application/json'].schema,
            responses: described.responses,
            codes: Object.entries(described.responses).flatMap(([status, response]) => (Number(status) < 400 ? [] : codesOf(response))),
        })),
    );
}

function codesOf({ content }: Response): RefusalCode[] {
    const { allOf } = (content?.['application/json'].schema ?? {}) as {
        allOf?: { properties?: { error: { properties: { code: { enum: RefusalCode[] } } } } }[];
    };
    const codes = allOf?.find(({ properties }) => properties !== undefined)?.properties?.error.properties.code.enum;
    if (codes === undefined) throw new Error('a refusal of the document names no codes');
    return codes;
}
