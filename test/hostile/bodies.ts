import type { Json } from '../../shared/domain/types.ts';

/** A text that is sent unchanged. */
export class Typed {
    readonly text: string;
    readonly type: string;

    constructor(text: string, type: string) {
        this.text = text;
        this.type = type;
    }
}

/** A body that is built to cause harm, and the expected response. */
interface HostileBody {
    name: string;
    method: 'POST' | 'PUT';
    path: string;
    body: Json | Typed;
    status: number;
    /** Limit of JSON characters that a turn may read of it, if it is higher than usual: those of its file. */
    maxCharacters?: number;
}

const many = (count: number, one: Json): Json[] => Array.from({ length: count }, () => one);
/** This many digits fill a body of 256 KiB. */
const ZEROS = many(130_000, 0);
const EMPTY = many(85_000, {});

const MIB = 1024 * 1024;
const LINES = 'application/x-ndjson';
/** Nested lists. */
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

function batch(name: string, text: string, type = LINES): HostileBody {
    const query = type === LINES ? '?site=shop.test&endpoint=read' : '';
    return { name: `a batch of ${name}`, method: 'POST', path: `/v1/batches${query}`, body: new Typed(text, type), status: 400 };
}

/** To add a row, add an entry here. */
export const HOSTILE_BODIES: readonly HostileBody[] = [
    { name: 'a report of 130,000 numbers', method: 'POST', path: '/v1/keys/report', body: ZEROS, status: 400 },
    { name: 'a report of 85,000 empty findings', method: 'POST', path: '/v1/keys/report', body: EMPTY, status: 400 },
    { name: 'a report of 85,000 empty keys', method: 'POST', path: '/v1/keys/report', body: { keys: many(85_000, '') }, status: 400 },
    { name: 'a policy of 130,000 paths', method: 'PUT', path: '/v1/sites/shop.test/policy', body: { blocked_paths: ZEROS }, status: 400 },
    {
        name: 'a call of 130,000 sites',
        method: 'POST',
        path: '/v1/fetch',
        body: { site: ZEROS, endpoint: 'read', params: {} },
        status: 400,
    },
    {
        name: 'a call with 85,000 empty params',
        method: 'POST',
        path: '/v1/fetch',
        body: { site: 'shop.test', endpoint: 'read', params: EMPTY },
        status: 400,
    },
    {
        name: 'a call of 2 MiB of params',
        method: 'POST',
        path: '/v1/fetch',
        body: {
            site: 'shop.test',
            endpoint: 'read',
            params: Object.fromEntries(many(130_000, 1).map((one, index) => [`k${index}`.padEnd(10, 'x'), one])),
        },
        status: 400,
    },
    {
        name: 'a call with 1.9 MB of a file for a site that is not there',
        method: 'POST',
        path: '/v1/fetch',
        body: { site: 'shop.test', endpoint: 'read', params: { base64: 'A'.repeat(1_900_000) } },
        status: 404,
        maxCharacters: 2_000_000,
    },
    {
        name: 'a call with 19,000 numbers of a hundred digits',
        method: 'POST',
        path: '/v1/fetch',
        body: new Typed(
            `{"site":"shop.test","endpoint":"read","params":{"p":[${Array.from({ length: 19_000 }, (_, at) => `${10_000 + at}${'3'.repeat(95)}`).join()}]}}`,
            'application/json',
        ),
        status: 404,
        maxCharacters: 8_000_000,
    },
    batch('100,000 empty lines', '\n'.repeat(100_000)),
    batch('8 MiB of empty lines', '\n'.repeat(8 * MIB)),
    batch('one line of 8 MiB', `{"params":{"p":"${'x'.repeat(8 * MIB)}"}}`),
    batch('4,000,000 lines more than it may have', '1\n'.repeat(4_100_000)),
    batch('lines of 120,000 levels', `{"params":{"p":${deep(120_000)}}}\n`.repeat(20)),
    batch('lines of 240,000 levels that nothing closes', `{"params":{"p":${'['.repeat(240_000)}\n`.repeat(20)),
    batch('lines that name a field thousands of times', `{${'"params":{"p":1},'.repeat(14_000)}"params":{}}\n`.repeat(20)),
    batch('2,000 sites that are not there', Array.from({ length: 2000 }, (_, at) => `{"site":"absent${at}.test"}`).join('\n')),
    batch('4 MiB of levels', `{"items":[${deep(2 * MIB)}]}`, 'application/json'),
];
