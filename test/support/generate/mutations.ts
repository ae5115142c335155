import { CONTRACTS } from '../../../shared/contracts/index.ts';
import type { RefusalCode } from '../../../shared/refusals.ts';
import { brokenBodies, unwantedBodies } from './broken-bodies.ts';
import type { Operation } from './document.ts';
import type { GeneratorWorld } from './generator-world.ts';
import type { Random } from './random.ts';
import { stories } from './stories.ts';
import type { Draft } from './valid.ts';
import { wrongTexts } from './values.ts';

/** A change of a valid request after which it is refused, and the possible codes. */
export interface Mutation {
    name: string;
    codes: readonly (RefusalCode | 'success')[];
    apply(draft: Draft, random: Random): Draft;
}

/** All mutations of an operation, always in the same order. */
export function mutationsOf(operation: Operation, fixture: GeneratorWorld): Mutation[] {
    return [
        ...wrongPlaces(operation),
        ...wrongQueries(operation),
        ...wrongKeys(operation, fixture),
        ...wrongHeaders(operation),
        { name: 'another method', codes: ['METHOD_NOT_ALLOWED'], apply: (draft) => ({ ...draft, method: unknownMethod(operation) }) },
        ...bodyMutations(operation),
        ...stories(operation, fixture),
    ];
}

function bodyMutations(operation: Operation): Mutation[] {
    if (operation.body !== undefined) return brokenBodies(operation);
    return operation.method === 'GET' ? [] : unwantedBodies(operation);
}

/** A method that no operation of this path has. */
function unknownMethod({ path }: Operation): string {
    const taken = CONTRACTS.filter((contract) => contract.path === path).map(({ method }) => method);
    // An id may be any word, so the path also matches operations with an id.
    if (path.startsWith('/v1/connections/')) return 'PUT';
    return taken.includes('PATCH') ? 'PUT' : 'PATCH';
}

const WRONG_SITES: Readonly<Record<string, string>> = {
    'a single label': 'localhost',
    'an address': '10.0.0.1',
    'an underscore': 'a_b.test',
    'a public suffix': 'co.uk',
    'a special suffix': 'printer.local',
    'a URL': 'https%3A%2F%2Fshop.test%2F',
    'a port': 'shop.test%3A80',
    'an emoji that no name takes': '%F0%9F%92%A9..test',
};

/** Claims need a domain without published schemas. */
const UNKNOWN_DOMAIN: Readonly<Record<string, RefusalCode | 'success'>> = {
    postClaim: 'success',
    getClaims: 'success',
    postClaimCheck: 'CLAIM_NOT_FOUND',
    deleteClaim: 'CLAIM_NOT_FOUND',
    getPolicy: 'CLAIM_REQUIRED',
    putPolicy: 'CLAIM_REQUIRED',
    putOAuthClient: 'success',
    deleteOAuthClient: 'NOT_FOUND',
};

const UNKNOWN_ID: Readonly<Record<string, RefusalCode>> = {
    request_id: 'REQUEST_NOT_FOUND',
    connection_id: 'CONNECTION_NOT_FOUND',
    claim_id: 'CLAIM_NOT_FOUND',
    job_id: 'JOB_NOT_FOUND',
    monitor_id: 'MONITOR_NOT_FOUND',
    webhook_id: 'WEBHOOK_NOT_FOUND',
    delivery_id: 'NOT_FOUND',
    batch_id: 'BATCH_NOT_FOUND',
};

function wrongPlaces({ id, parameters }: Operation): Mutation[] {
    const at = (parameter: string, name: string, value: string, codes: Mutation['codes']): Mutation => ({
        name: `${parameter} that is ${name}`,
        codes,
        apply: (draft) => ({ ...draft, places: { ...draft.places, [parameter]: value } }),
    });
    return parameters
        .filter((parameter) => parameter.in === 'path')
        .flatMap(({ name, schema }) => {
            const broken = [
                at(name, 'half an escape', '%', ['VALIDATION_ERROR']),
                at(name, 'no UTF-8', '%ff%fe', ['VALIDATION_ERROR']),
                at(name, 'half a surrogate pair', '%ED%A0%80', ['VALIDATION_ERROR']),
            ];
            if (name === 'site' || name === 'domain') {
                return [
                    ...broken,
                    ...Object.entries(WRONG_SITES).map(([what, value]) => at(name, what, value, ['INVALID_DOMAIN'])),
                    at(name, 'a NUL', 'shop%00.test', ['INVALID_DOMAIN', 'VALIDATION_ERROR']),
                    at(name, 'too long', 'x'.repeat(1025), ['VALIDATION_ERROR']),
                    at(name, 'unknown', 'nowhere.test', [UNKNOWN_DOMAIN[id] ?? 'SITE_NOT_FOUND']),
                ];
            }
            if (name === 'version') {
                return [
                    ...broken,
                    ...['0', '01', '1.5', 'abc', '-1', '9999999999', '1%00'].map((value) => at(name, value, value, ['VALIDATION_ERROR'])),
                    at(name, 'unknown', '999999', ['VERSION_NOT_FOUND']),
                ];
            }
            const code = UNKNOWN_ID[name] ?? 'NOT_FOUND';
            if (schema.type !== 'string') throw new Error(`no wrong values are made for ${id} ${name}`);
            return [
                ...broken,
                at(name, 'unknown', 'xyz_nobody', [code]),
                at(name, 'a NUL', 'a%00b', [code, 'VALIDATION_ERROR']),
                at(name, 'very long', 'x'.repeat(3000), [code, 'VALIDATION_ERROR']),
                at(name, 'SQL', "'%3B--", [code]),
            ];
        });
}

function wrongQueries({ id, parameters }: Operation): Mutation[] {
    const adds = (name: string, entries: [string, string][], codes: RefusalCode[] = ['VALIDATION_ERROR']): Mutation => ({
        name: `a query with ${name}`,
        codes,
        apply: (draft) => {
            const names = new Set(entries.map(([key]) => key));
            return { ...draft, query: [...draft.query.filter(([key]) => !names.has(key)), ...entries] };
        },
    });
    const known = parameters.filter((parameter) => parameter.in === 'query');
    return [
        adds('an unknown parameter', [['unknown', '1']]),
        adds('a repeated unknown parameter', [
            ['unknown', '1'],
            ['unknown', '2'],
        ]),
        adds('names of prototypes', [
            ['__proto__', '1'],
            ['constructor', '2'],
        ]),
        adds('brackets', [['a[b][c]', '1']]),
        adds('a NUL in a name', [['a%00b', '1']]),
        ...known.flatMap(({ name, schema }) => [
            adds(`${name} twice`, [
                [name, '1'],
                [name, '2'],
            ]),
            ...Object.entries(wrongTexts(schema)).map(([what, value]) => adds(`${name} that is ${what}`, [[name, value]])),
            adds(`${name} in capitals`, [[name.toUpperCase(), '1']]),
        ]),
        ...(id === 'getSchemas' ? [adds('an unknown category', [['category', 'commerce%2Fnothing']])] : []),
        ...known
            .filter(({ name }) => name === 'cursor' || name === 'after')
            .flatMap(({ name }) =>
                ['nonsense', '', 'e30', 'x'.repeat(5000)].map((text) =>
                    adds(`the ${name} ${text.slice(0, 9)}`, [[name, text]], ['INVALID_CURSOR']),
                ),
            ),
    ];
}

function wrongKeys({ auth, id }: Operation, { keys }: GeneratorWorld): Mutation[] {
    if (auth === 'ignored') return [];
    const sends = (name: string, value: string | undefined, codes: Mutation['codes']): Mutation => ({
        name: `a key that is ${name}`,
        codes,
        apply: ({ headers: { authorization: _, ...headers }, ...draft }) => ({
            ...draft,
            headers: value === undefined ? headers : { ...headers, authorization: value },
        }),
    });
    const bearer = (name: string, key: string, code: RefusalCode) => sends(name, `Bearer ${key}`, [code]);
    const isLimited = id === 'getCatalog' || id === 'postSchemaRequest';
    return [
        ...(auth === 'required' ? [sends('missing', undefined, ['API_KEY_REQUIRED'])] : []),
        ...(auth === 'optional' && isLimited ? [sends('missing', undefined, ['RATE_LIMITED', 'success'])] : []),
        bearer('nonsense', 'nonsense', 'INVALID_API_KEY'),
        bearer('mistyped', keys.mistyped, 'INVALID_API_KEY'),
        bearer('unknown', keys.unknown, 'INVALID_API_KEY'),
        bearer('revoked', keys.revoked, 'INVALID_API_KEY'),
        bearer('given twice', `${keys.good}, Bearer ${keys.good}`, 'INVALID_API_KEY'),
        bearer('far too long', 'x'.repeat(4000), 'INVALID_API_KEY'),
        sends('of another scheme', `Basic ${keys.good}`, ['INVALID_API_KEY']),
        sends('empty', '', ['INVALID_API_KEY']),
        bearer("a suspended user's", keys.suspended, 'FORBIDDEN'),
    ];
}

function wrongHeaders({ id, parameters }: Operation): Mutation[] {
    const sends = (name: string, header: string, value: string, codes: RefusalCode[]): Mutation => ({
        name,
        codes,
        apply: (draft) => ({ ...draft, headers: { ...draft.headers, [header]: value } }),
    });
    const names = parameters.map(({ name }) => name);
    return [
        sends('headers of 17 KB', 'x-much', 'x'.repeat(17_000), ['VALIDATION_ERROR']),
        ...(names.includes('Idempotency-Key')
            ? ['', 'two words', 'x'.repeat(256), 'ä'].map((key) =>
                  sends(`the Idempotency-Key ${key.slice(0, 9)}`, 'idempotency-key', key, ['INVALID_IDEMPOTENCY_KEY']),
              )
            : []),
        ...(id === 'postSchema'
            ? [
                  ...['nonsense', '"', '', `W/"${'0'.repeat(64)}"`].map((tag) =>
                      sends(`the If-Match ${tag.slice(0, 9)}`, 'if-match', tag, ['VALIDATION_ERROR']),
                  ),
                  ...['abc', '0'.repeat(64)].map((hash) =>
                      sends(`the hash ${hash} of no version`, 'if-match', `"${hash}"`, ['VERSION_CONFLICT']),
                  ),
              ]
            : []),
    ];
}
