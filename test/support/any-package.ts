import fc from 'fast-check';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import type { Json, JsonObject, JsonSchema, PackageDocument, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';

const SITE = 'any.test';

/** Generates valid packages that use as much of the format as possible, in odd combinations. */
export function anyPackage(): fc.Arbitrary<PackageDocument> {
    return fc
        .record(
            {
                format: fc.constant('routebook/1' as const),
                site: fc.constant(SITE),
                title: line(60),
                description: fc.string({ unit: 'grapheme', maxLength: 80 }),
                intent_category: fc.constantFrom('commerce', 'commerce/pricing', 'weather/current'),
                endpoints: fc.uniqueArray(anyEndpoint(), { selector: ({ name }) => name, minLength: 1, maxLength: 12 }),
            },
            { requiredKeys: ['format', 'site', 'title', 'intent_category', 'endpoints'] },
        )
        .filter(isAccepted);
}

function isAccepted(document: PackageDocument): boolean {
    return checkPackage(document, { isPortAllowed: () => false }).ok;
}

const NAMES = ['id', 'id_2', 'q', 'page', 'list', 'a_long_name_of_an_endpoint_that_takes_up_all_sixty_four_places_x'];
/** Names of query and body params that have a meaning elsewhere. */
const ODD_NAMES = ['filter[price]', '$filter', 'a/b', 'a~b', 'a.b', '#', 'toString', 'Accept', "it's", '%41', 'x=y&z'];

function anyEndpoint(): fc.Arbitrary<PackageEndpoint> {
    return fc
        .record({
            name: fc.oneof(fc.constantFrom(...NAMES), fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/)),
            method: fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'),
            url: anyUrl(),
            more: fc.record(
                {
                    description: fc.string({ unit: 'grapheme', maxLength: 40 }),
                    headers: anyHeaders(),
                    hosted: fc.boolean(),
                    response: anyResponse(),
                },
                { requiredKeys: [] },
            ),
            schemas: some(anySchema(), 3),
            scalars: some(scalarSchema(), 8),
            flags: some(fc.boolean(), 32),
            queryNames: fc.uniqueArray(fc.constantFrom(...NAMES, ...ODD_NAMES), { maxLength: 3 }),
            bodyNames: fc.uniqueArray(fc.constantFrom(...ODD_NAMES.map((name) => `${name}!`), 'first', 'second'), { maxLength: 3 }),
            isForm: fc.boolean(),
            template: fc.option(fc.jsonValue({ maxDepth: 2 })),
            carrier: fc.option(fc.constantFrom('page', 'offset', 'q')),
        })
        .map(({ name, method, url, more, schemas, scalars, flags, queryNames, bodyNames, isForm, template, carrier }) => {
            const [flag, schema, scalar] = [inTurn(flags), inTurn(schemas), inTurn(scalars)];
            const placed = [...new Set([...url.matchAll(/\{(\w+)\}/g)].map(([, placeholder = '']) => placeholder))];
            const param = (paramName: string, source: PackageParam['source'], said: JsonSchema): PackageParam => ({
                name: paramName,
                source,
                required: source === 'path' || flag(),
                ...(flag() ? { description: `What ${paramName} means.` } : {}),
                ...(flag() ? { schema: said } : {}),
            });
            const isBodyless = method === 'GET' || method === 'HEAD';
            const body = isBodyless ? [] : bodyNames;
            const params = [
                ...placed.map((placeholder) => ({ ...param(placeholder, 'path', scalar()), ...(flag() ? { segments: true } : {}) })),
                ...queryNames
                    .filter((other) => !placed.includes(other))
                    .map((other) => ({ ...param(other, 'query', scalar()), ...(flag() ? { style: 'comma' as const } : {}) })),
                ...(flag() ? [param('X-Lang', 'header', scalar())] : []),
                ...body.map((other) => param(other, 'body', isForm ? scalar() : schema())),
            ];
            return {
                name,
                method: method as PackageEndpoint['method'],
                url: `https://${flag() ? '' : 'api.'}${SITE}${url}`,
                params,
                ...more,
                ...(body.length > 0 && flag() ? { body: templateOf(body, isForm ? null : (template as Json)) } : {}),
                ...(body.length > 0 && flag() ? { body_required: false } : {}),
                ...(isForm && !isBodyless ? { body_format: 'form' as const } : {}),
                ...(carrier !== null && method === 'GET' && !placed.includes(carrier) ? { pagination: { param: carrier } } : {}),
            };
        })
        .filter((endpoint) =>
            isAccepted({ format: 'routebook/1', site: SITE, title: 'One', intent_category: 'commerce', endpoints: [endpoint] }),
        );
}

/** A template that contains each body param. */
function templateOf(names: readonly string[], beside: Json): JsonObject {
    const fields = Object.fromEntries(names.map((name, index) => [`f${index}`, `{${name}}`]));
    return beside === null ? fields : { ...fields, beside, list: [...names.map((name) => `{${name}}`), beside], nothing: [] };
}

function anyUrl(): fc.Arbitrary<string> {
    const segment = fc.constantFrom('items', 'v2', '{id}', '{id}', '{id_2}', '{q}-{id}.json', 'a%20b', "it's,$&:@", '(x)', 'caf%C3%A9', '');
    const pair = fc.constantFrom(
        'lang=en',
        'lang=de',
        'flag',
        'a=b+c%26d',
        'q={q}',
        'sort=by:{id}',
        '{id}=1',
        'page=1',
        '',
        'x=%ff',
        'filter%5Bprice%5D=1',
        '=1',
    );
    return fc
        .tuple(fc.array(segment, { maxLength: 4 }), fc.option(fc.array(pair, { maxLength: 4 })))
        .map(([segments, pairs]) => `/${segments.join('/')}${pairs === null || pairs.length === 0 ? '' : `?${pairs.join('&')}`}`);
}

function anyHeaders(): fc.Arbitrary<Record<string, string>> {
    return fc.dictionary(
        fc.constantFrom('accept', 'Accept', 'x-app', 'X-App', 'content-type', 'accept-language'),
        fc.constant('application/json'),
        {
            maxKeys: 3,
        },
    );
}

function anyResponse(): fc.Arbitrary<NonNullable<PackageEndpoint['response']>> {
    return fc.record(
        {
            type: fc.constantFrom('json' as const, 'html' as const, 'text' as const),
            select: fc.constantFrom('items', { items: 'things[].id' }, { items: ['li'] }),
            schema: anySchema(),
        },
        { requiredKeys: [] },
    );
}

/** Schemas of values that a URL can contain, or of lists of them. */
function scalarSchema(): fc.Arbitrary<JsonSchema> {
    return fc.constantFrom<JsonSchema>(
        true,
        {},
        { type: 'string', minLength: 1, maxLength: 9, pattern: '^[a-z]+$', format: 'email' },
        { type: ['integer', 'string'], minimum: 0, exclusiveMaximum: 9.5, multipleOf: 0.5 },
        { enum: ['a', 1, true], title: 'One of three', description: 'Any of them.' },
        {
            $ref: '#/$defs/word',
            $defs: { word: { $anchor: 'w', type: 'string' } },
            $schema: 'https://json-schema.org/draft/2020-12/schema',
        },
        { allOf: [{ $ref: '#w' }], $defs: { x: { $anchor: 'w', const: 'x' } } },
        { type: 'array', items: { type: 'integer' }, uniqueItems: true, minItems: 0, maxItems: 3 },
    );
}

/** Schemas with most of the allowed keywords: nested, with references in all directions, and with keywords that have no effect. */
function anySchema(): fc.Arbitrary<JsonSchema> {
    const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
        schema: fc.oneof(
            { maxDepth: 3 },
            scalarSchema().filter((schema) => typeof schema !== 'object' || !('$defs' in schema)),
            fc.boolean(),
            fc.record(
                {
                    type: fc.constantFrom<Json>('object', ['object', 'null'], 'array'),
                    properties: fc.dictionary(fc.constantFrom('a', 'b/c', '~', '$ref', 'type'), tie('schema'), {
                        maxKeys: 3,
                    }) as fc.Arbitrary<Json>,
                    patternProperties: fc.dictionary(fc.constantFrom('^x-', '[0-9]+$'), tie('schema'), {
                        maxKeys: 1,
                    }) as fc.Arbitrary<Json>,
                    additionalProperties: tie('schema') as fc.Arbitrary<Json>,
                    unevaluatedProperties: fc.boolean(),
                    propertyNames: fc.constant({ maxLength: 5 }),
                    required: fc.subarray(['a', 'b/c', 'z']),
                    dependentRequired: fc.constant({ a: ['z'] }),
                    dependentSchemas: fc.dictionary(fc.constant('a'), tie('schema'), { maxKeys: 1 }) as fc.Arbitrary<Json>,
                    items: tie('schema') as fc.Arbitrary<Json>,
                    prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) as fc.Arbitrary<Json>,
                    contains: tie('schema') as fc.Arbitrary<Json>,
                    minContains: fc.nat(2),
                    oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) as fc.Arbitrary<Json>,
                    not: tie('schema') as fc.Arbitrary<Json>,
                    if: tie('schema') as fc.Arbitrary<Json>,
                    // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
                    then: tie('schema') as fc.Arbitrary<Json>,
                    $ref: fc.constantFrom('#/$defs/leaf', '#leaf', '#/$defs/b~1c'),
                    const: fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
                    nullable: fc.constant<Json>('a keyword of another dialect'),
                    'x-note': fc.constant<Json>({ $ref: '#/nowhere' }),
                    examples: fc.constant<Json>('not a list'),
                },
                { requiredKeys: [] },
            ) as fc.Arbitrary<JsonSchema>,
        ) as fc.Arbitrary<JsonSchema>,
    }));
    const leaves: JsonObject = { leaf: { $anchor: 'leaf', type: 'integer', description: 'A leaf.' }, 'b/c': { $ref: '#/$defs/leaf' } };
    return schema.map((made) => (typeof made === 'boolean' ? made : { ...made, $defs: leaves }));
}

function some<T>(one: fc.Arbitrary<T>, count: number): fc.Arbitrary<T[]> {
    return fc.array(one, { minLength: count, maxLength: count });
}

/** Returns the values one after the other, then from the beginning again. */
function inTurn<T>(values: readonly T[]): () => T {
    let turn = 0;
    return () => values[turn++ % values.length] as T;
}

function line(most: number): fc.Arbitrary<string> {
    return fc.string({ unit: 'grapheme', minLength: 1, maxLength: most }).filter((text) => text.trim() !== '');
}
