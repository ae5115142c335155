import type { Json, JsonObject, JsonSchema, PackageDocument, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { publishAndRead } from './publishing.ts';
import type { Stranger } from './stranger.ts';

/** A package that is built to make an API work for long. */
export interface HostilePackage extends Stranger {
    kind: 'package';
    /** Whether the publishing rules accept it. Others were stored before the rules existed. */
    isTaken: boolean;
    document(site: string): PackageDocument;
    /** Calls of its endpoints, one after the other. */
    calls: { endpoint: string; params: JsonObject }[];
    /** A part of the expected response, if it shows which limit applied. */
    told?: string;
}

/** The fields of a row. The others are the same for all of them. */
type Row = Omit<HostilePackage, 'kind' | 'run' | 'isTaken'> & { isTaken?: boolean };

function row({ isTaken = true, ...more }: Row): HostilePackage {
    return {
        ...more,
        kind: 'package',
        isTaken,
        run: (target, until) => publishAndRead({ isTaken, ...more }, target, until),
    };
}

const variant = (one: HostilePackage): HostilePackage => ({ ...one, isVariant: true });
const sample = (one: HostilePackage): HostilePackage => ({ ...one, isSample: true });

const endpointWith = (
    site: string,
    name: string,
    params: readonly { name: string; schema?: JsonSchema; default?: unknown }[],
): PackageEndpoint =>
    anEndpoint(site, {
        name,
        method: 'POST',
        effect: 'read',
        url: `https://${site}/${name}`,
        params: params.map((param) => ({ source: 'body', required: false, ...param }) as PackageParam),
    });

/** A schema with this many different branches, which must be compiled. */
export function branches(count: number, seed: number): JsonSchema {
    return {
        oneOf: Array.from({ length: count }, (_, at) => ({
            type: 'object',
            required: [`k${seed}_${at}`],
            properties: { [`k${seed}_${at}`]: { const: at }, other: { type: 'string', minLength: at % 7 } },
        })),
    };
}

/** Two endpoints of 30 body params, each with a schema of this many branches. */
function compileBomb(count: number, isTaken = false): HostilePackage {
    const names = ['first', 'second'];
    return row({
        name: `two endpoints of 30 params with ${count} branches each`,
        isTaken,
        document: (site) =>
            aPackage(site, {
                endpoints: names.map((name, at) =>
                    endpointWith(
                        site,
                        name,
                        Array.from({ length: 30 }, (_, index) => ({ name: `p${index}`, schema: branches(count, 100 * at + index) })),
                    ),
                ),
            }),
        calls: names.map((endpoint) => ({
            endpoint,
            params: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, { nothing: index }])),
        })),
    });
}

/** One endpoint with one param, called with one value. */
function oneParam(name: string, schema: JsonSchema, value: unknown): HostilePackage {
    return row({
        name,
        document: (site) => aPackage(site, { endpoints: [endpointWith(site, 'go', [{ name: 'p', schema }])] }),
        calls: [{ endpoint: 'go', params: { p: value } as JsonObject }],
    });
}

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key_number_${at}`, { a: at, b: [at] }]));
const nested = (levels: number): unknown => (levels === 0 ? 'x' : { a: nested(levels - 1) });
/** This many numbers in lists of ten, nested as deeply as permitted. */
const deepLists = (count: number): Json => {
    let lists: Json = Array.from({ length: count }, (_, at) => at % 10);
    for (let level = 0; level < 24; level++) lists = [lists];
    return lists;
};
const pattern = (at: number) => `(?:[a-z]{1,9}|x${at})[0-9]?y${at}$`;

export const HOSTILE_PACKAGES: readonly HostilePackage[] = [
    sample(variant(compileBomb(120))),
    variant(compileBomb(240)),
    compileBomb(480),
    compileBomb(20, true),
    sample(oneParam('1,000 keys against 240 branches', { additionalProperties: branches(240, 1) }, keys(300))),
    variant(
        oneParam(
            '1,000 keys against pattern properties',
            {
                patternProperties: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [pattern(at), { type: 'object' }])),
                unevaluatedProperties: branches(200, 2),
            },
            keys(300),
        ),
    ),
    variant(
        oneParam(
            'names of 1,000 keys against patterns',
            {
                propertyNames: { anyOf: Array.from({ length: 100 }, (_, at) => ({ pattern: pattern(at) })) },
            },
            keys(300),
        ),
    ),
    variant(
        oneParam(
            'a long text against many patterns',
            { anyOf: Array.from({ length: 100 }, (_, at) => ({ pattern: pattern(at) })) },
            'abcdefgh'.repeat(8000),
        ),
    ),
    variant(
        oneParam(
            'deep values against deep branches',
            {
                anyOf: [
                    branches(40, 3),
                    { not: { not: { additionalProperties: branches(60, 4) } } },
                    { unevaluatedProperties: { unevaluatedProperties: { oneOf: [branches(60, 5), {}] } } },
                ],
            },
            nested(30),
        ),
    ),
    variant(
        oneParam(
            'dependent schemas of every key',
            {
                dependentSchemas: Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`key_number_${at}`, branches(2, at)])),
            },
            keys(300),
        ),
    ),
    // Each param fits, but checking all of them takes twice the permitted steps.
    sample({
        ...oneParam(
            'items that take more steps than a call has',
            { items: { oneOf: Array.from({ length: 300 }, (_, at) => ({ const: at })) } },
            Array.from({ length: 15_000 }, (_, at) => at % 300),
        ),
        told: 'takes too much work to validate against its schema',
    }),
    row({
        name: 'a param in thousands of places of a body',
        told: 'TOO_COMPLEX',
        document: (site) => {
            const body = Array.from({ length: 5000 }, () => '{p}');
            return aPackage(site, { endpoints: [{ ...endpointWith(site, 'go', [{ name: 'p' }]), body }] });
        },
        calls: [{ endpoint: 'go', params: { p: 'x'.repeat(60_000) } }],
    }),
    oneParam(
        'many small items against 300 branches',
        { items: { oneOf: Array.from({ length: 300 }, (_, at) => ({ const: at })) } },
        Array.from({ length: 60_000 }, (_, at) => at % 500),
    ),
    variant(
        oneParam(
            'many small items that are simple',
            { type: 'array', items: { type: 'integer', minimum: 0, maximum: 10, multipleOf: 1 } },
            Array.from({ length: 120_000 }, () => 1),
        ),
    ),
    variant(
        oneParam(
            'many empty lists',
            { type: 'array', items: { type: 'array' } },
            Array.from({ length: 80_000 }, () => []),
        ),
    ),
    variant(
        oneParam(
            'many different items',
            { type: 'array', uniqueItems: true, items: { type: 'string' } },
            Array.from({ length: 30_000 }, (_, at) => `i${at}`),
        ),
    ),
    row({
        isVariant: true,
        name: '400 params with patterns of their own',
        document: (site) =>
            aPackage(site, {
                endpoints: [
                    endpointWith(
                        site,
                        'go',
                        Array.from({ length: 400 }, (_, at) => ({
                            name: `p${at}`,
                            schema: { type: 'string', pattern: `^[a-z]{1,9}${at}$` },
                        })),
                    ),
                ],
            }),
        calls: [{ endpoint: 'go', params: Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`p${at}`, `abc${at}`])) }],
    }),
    row({
        isVariant: true,
        name: '1,000 params, all of them unknown',
        document: (site) =>
            aPackage(site, {
                endpoints: [
                    endpointWith(
                        site,
                        'go',
                        Array.from({ length: 2000 }, (_, at) => ({
                            name: `param_number_${at}_with_a_long_name_xxxxxxxxxxxxxxxxxxxxxxxxxx`,
                        })),
                    ),
                ],
            }),
        calls: [{ endpoint: 'go', params: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`q${at}_${'y'.repeat(200)}`, 1])) }],
    }),
    row({
        name: 'thousands of long expressions, each of many literals without quotes',
        isTaken: false,
        told: 'TOO_COMPLEX',
        document: (site) =>
            aPackage(site, {
                endpoints: Array.from({ length: 25 }, (_, at) => {
                    const names = Array.from({ length: 150 }, (_, place) => `e${at}_${place}`);
                    const select = Object.fromEntries(names.map((name) => [name, `[${'``,'.repeat(320)}${name}]`]));
                    return { ...endpointWith(site, `endpoint_${at}`, []), response: { type: 'json' as const, select } };
                }),
            }),
        calls: [],
    }),
    row({
        name: '500 endpoints with long words',
        document: (site) => aPackage(site, { endpoints: wideEndpoints(site, 500, 7000) }),
        calls: [
            { endpoint: 'endpoint_1', params: { p0: 1 } },
            { endpoint: 'absent_endpoint', params: {} },
        ],
    }),
    row({
        isVariant: true,
        name: '40 endpoints with long words',
        document: (site) => aPackage(site, { endpoints: wideEndpoints(site, 40, 4000) }),
        calls: [{ endpoint: 'endpoint_1', params: { p0: 1 } }],
    }),
    row({
        isSample: true,
        name: 'an answer whose schema names 120,000 small values, deep in lists',
        document: (site) =>
            aPackage(site, { endpoints: [{ ...endpointWith(site, 'go', []), response: { schema: { const: deepLists(120_000) } } }] }),
        calls: [{ endpoint: 'go', params: {} }],
    }),
    row({
        isVariant: true,
        name: 'an example of a call that is as long as a package may be',
        document: (site) => {
            const names = Array.from({ length: 50 }, (_, at) => `p${at}`);
            const params = Object.fromEntries(names.map((name) => [name, `<'"`.repeat(20_000)]));
            const endpoint = endpointWith(
                site,
                'go',
                names.map((name) => ({ name })),
            );
            return aPackage(site, { endpoints: [{ ...endpoint, examples: [{ params }] }] });
        },
        calls: [{ endpoint: 'go', params: {} }],
    }),
    row({
        isVariant: true,
        name: '500 endpoints with many small values',
        document: (site) =>
            aPackage(site, {
                endpoints: Array.from({ length: 500 }, (_, at) => ({
                    ...endpointWith(site, `endpoint_${at}`, [
                        { name: 'p', schema: { enum: Array.from({ length: 250 }, (_, choice) => `c${at}_${choice}`) } },
                    ]),
                })),
            }),
        calls: [{ endpoint: 'endpoint_1', params: { p: 'c1_2' } }],
    }),
];

function wideEndpoints(site: string, count: number, characters: number): PackageEndpoint[] {
    const text = (seed: number) =>
        Array.from(
            { length: Math.floor(characters / 8) },
            (_, at) => `w${((seed * 31 + at * 17) % 9973).toString(36).padStart(5, 'o')}e`,
        ).join(' ');
    return Array.from({ length: count }, (_, at) => ({
        ...endpointWith(
            site,
            `endpoint_${at}`,
            Array.from({ length: 4 }, (_, param) => ({ name: `p${param}` })),
        ),
        description: text(at),
    }));
}
