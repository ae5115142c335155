import { upgradeFromTwoToThree } from '@scalar/openapi-upgrader/2.0-to-3.0';
import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { CannotImport } from '../imported.ts';
import { textsOf } from '../texts.ts';
import { createResolver, type Resolver } from './refs.ts';

const MULTIPART = 'multipart/form-data';
const URLENCODED = 'application/x-www-form-urlencoded';
const FORMS = [MULTIPART, URLENCODED];

const METHODS: ReadonlySet<string> = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options']);

/** Converts Swagger 2.0 to OpenAPI 3. @param name the file's name, for messages @throws CannotImport if the converter fails */
export function fromSwagger(document: JsonObject, name: string): JsonObject {
    if (!String(document['swagger']).startsWith('2')) throw new CannotImport('Only OpenAPI 3.x and Swagger 2.0 can be imported.');
    // The converter changes its input, and YAML aliases share objects.
    const own = normaliseParts(structuredClone(document));
    try {
        return requireForms(upgradeFromTwoToThree({ ...own, swagger: '2.0' }) as unknown as JsonObject);
    } catch (error) {
        throw new CannotImport(`${name} is Swagger 2.0 that cannot be converted: ${error instanceof Error ? error.message : error}.`);
    }
}

/** Marks forms with a required field as required, which the converter omits. */
function requireForms(document: JsonObject): JsonObject {
    const items = isObject(document['paths']) ? Object.values(document['paths']) : [];
    for (const operation of items.filter(isObject).flatMap(Object.values).filter(isObject)) {
        const body = operation['requestBody'];
        const content = objectOf(objectOf(body)['content']);
        const forms = FORMS.map((type) => content[type]).filter(isObject);
        const fields = forms.flatMap(({ schema }) => (isObject(schema) ? textsOf(schema['required']) : []));
        if (isObject(body) && fields.length > 0) body['required'] = true;
    }
    return document;
}

/** Rewrites parts that the converter cannot read: referenced or broken parameters, broken responses, defaults of forms. */
function normaliseParts(document: JsonObject): JsonObject {
    const resolver = createResolver(document);
    const consumes = textsOf(document['consumes']);
    const paths = objectOf(document['paths']);
    const whole: JsonObject = { ...document, ...serverOf(document), paths: {} };
    if (consumes.length === 0) delete whole['consumes'];
    if (textsOf(document['produces']).length === 0) delete whole['produces'];
    whole['securityDefinitions'] = objectsIn(document['securityDefinitions']);
    // Each use gets its own copy below.
    delete whole['parameters'];
    whole['paths'] = Object.fromEntries(
        Object.entries(paths).map(([path, written]): [string, Json] => {
            const item = resolver.resolve(written);
            if (item === undefined) return [path, isObject(written) ? written : null];
            const shared = parametersOf(item['parameters'], resolver);
            const operations = Object.entries(item).flatMap(([key, value]): [string, Json][] => {
                if (!METHODS.has(key.toLowerCase())) return key === 'parameters' ? [] : [[key, value]];
                return [[key.toLowerCase(), isObject(value) ? normaliseOperation(value, shared, consumes, resolver) : true]];
            });
            return [path, Object.fromEntries(operations)];
        }),
    );
    return whole;
}

/** Host and base path in the form of the specification: some documents have a whole URL as host, or a base path without its slash. */
function serverOf({ host, basePath, schemes }: JsonObject): JsonObject {
    if (typeof host !== 'string') return {};
    const [, scheme, name = '', path = ''] = /^(?:(https?):)?(?:\/\/)?([^/?#]*)(\/[^?#]*)?/i.exec(host.trim()) ?? [];
    const base = typeof basePath === 'string' ? basePath.trim() : '';
    return {
        host: name,
        basePath: `${path}/${base}`.replaceAll(/\/{2,}/g, '/'),
        ...(scheme === undefined || schemes !== undefined ? {} : { schemes: [scheme.toLowerCase()] }),
    };
}

function normaliseOperation(
    operation: JsonObject,
    shared: readonly JsonObject[],
    consumes: readonly string[],
    resolver: Resolver,
): JsonObject {
    const own = parametersOf(operation['parameters'], resolver);
    const keyOf = ({ in: place, name }: JsonObject) => (place === 'body' ? 'body' : `${place} ${name}`);
    const keys = new Set(own.map(keyOf));
    const parameters = [...shared.filter((one) => !keys.has(keyOf(one))), ...own].map(withExample);
    const fields = parameters.filter((one) => one['in'] === 'formData');
    for (const field of fields) if (field['type'] === 'array') field['collectionFormat'] ??= 'csv';
    const declaredTypes = textsOf(operation['consumes']);
    const types = declaredTypes.length > 0 ? declaredTypes : consumes;
    const { consumes: _consumes, produces, responses, ...rest } = operation;
    return {
        ...rest,
        ...(textsOf(produces).length === 0 ? {} : { produces: textsOf(produces) }),
        ...(fields.length > 0 ? { consumes: formTypes(types, fields) } : types.length > 0 ? { consumes: [...types] } : {}),
        parameters,
        responses: objectsIn(responses),
    };
}

function objectsIn(parts: Json | undefined): JsonObject {
    return Object.fromEntries(Object.entries(objectOf(parts)).filter(([, part]) => isObject(part)));
}

/** Swagger 2.0 has no field for the example of a parameter; documents write `x-example`, which the converter drops. */
function withExample(parameter: JsonObject): JsonObject {
    const { 'x-example': example, ...rest } = structuredClone(parameter);
    return example === undefined ? rest : { example, ...rest };
}

/** A form without files is URL-encoded, unless the document says that it is multipart. */
function formTypes(types: readonly string[], fields: readonly JsonObject[]): string[] {
    const hasFile = fields.some((field) => field['type'] === 'file');
    const forms = types.filter((type) => type === MULTIPART || (type === URLENCODED && !hasFile));
    return forms.length > 0 ? forms : [hasFile ? MULTIPART : URLENCODED];
}

/** The parameters with a name and a place. */
function parametersOf(list: Json | undefined, resolver: Resolver): JsonObject[] {
    return listOf(list).flatMap((written) => {
        const parameter = resolver.resolve(written);
        return parameter !== undefined && typeof parameter['in'] === 'string' && typeof parameter['name'] === 'string' ? [parameter] : [];
    });
}
