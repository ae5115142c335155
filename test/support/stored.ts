import { Redis } from 'ioredis';
import type { App } from '../../shared/app.ts';
import type { Db } from '../../shared/platform/db.ts';

/** Everything that an installation has stored or logged, by place. */
export type Stored = ReadonlyMap<string, string>;

/** Reads all tables except the system's, all Redis keys of this installation, and the log. */
export async function readStored({ db, config }: App, logged: readonly unknown[]): Promise<Stored> {
    const stored = new Map([['the log', JSON.stringify(logged)]]);
    for (const [table, text] of await readTables(db)) stored.set(`table ${table}`, text);
    if (config.redisUrl !== undefined) {
        for (const [key, text] of await readRedis(config.redisUrl, config.keyPrefix)) stored.set(`Redis key ${key}`, text);
    }
    return stored;
}

/** Finds secrets in stored data: in clear text, percent-encoded, escaped as in JSON, in base64 or in hex. */
export function findPlanted(stored: Stored, secrets: Readonly<Record<string, string>>): string[] {
    const found: string[] = [];
    for (const [place, text] of stored) {
        const lower = text.toLowerCase();
        for (const [name, secret] of Object.entries(secrets)) {
            const isIn = formsOf(secret).some((form) => text.includes(form)) || lower.includes(Buffer.from(secret).toString('hex'));
            if (isIn) found.push(`${name} in ${place}`);
        }
    }
    return found;
}

/** All forms of a text except hex. In base64, the text may begin at any of three offsets. */
function formsOf(secret: string): string[] {
    const shifted = [0, 1, 2].flatMap((shift) => {
        const encoded = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)])
            .toString('base64')
            .replaceAll('=', '');
        // The first and last characters also depend on the neighbouring bytes.
        const inner = encoded.slice(shift === 0 ? 0 : shift + 1, -1);
        return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
    });
    const percent = encodeURIComponent(secret);
    const strict = percent.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
    const encoded = [percent, strict, strict.replaceAll('%20', '+')];
    const lower = encoded.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
    const plain = [secret, ...encoded, ...lower].flatMap((text) => [text, Buffer.from(text).toString('latin1')]);
    return [...new Set([...plain.flatMap(escapedOf), ...shifted])];
}

/** The text escaped in a JSON text, also in nested ones: a log line may contain a body that contains an answer. */
function escapedOf(text: string): string[] {
    const escaped = [text];
    for (let depth = 0; depth < 3; depth++) escaped.push(JSON.stringify(escaped.at(-1)).slice(1, -1));
    return escaped;
}

async function readTables(db: Db): Promise<[name: string, text: string][]> {
    const { rows: tables } = await db.raw<{ rows: { schema: string; name: string }[] }>(
        `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind in ('r', 'm') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_' order by 1, 2`,
    );
    const texts: [string, string][] = [];
    for (const { schema, name } of tables) {
        const { rows } = await db.raw<{ rows: { row: string }[] }>('select to_jsonb(t)::text as row from ??.?? as t', [schema, name]);
        texts.push([`${schema}.${name}`, rows.map(({ row }) => `${row}\n${bytesIn(row)}`).join('\n')]);
    }
    return texts;
}

/** The contents of the bytea columns of a row. */
function bytesIn(row: string): string {
    return [...row.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1')).join('\n');
}

/** All keys that contain the prefix, with their contents. An empty prefix selects all. */
export async function readRedis(url: string, prefix: string): Promise<[name: string, text: string][]> {
    const redis = new Redis(url);
    try {
        const texts: [string, string][] = [];
        for await (const keys of redis.scanStream({ match: prefix === '' ? '*' : `*${prefix}*`, count: 1000 })) {
            for (const key of keys as string[]) texts.push([key, `${key}\n${await contentOf(redis, key)}`]);
        }
        return texts;
    } finally {
        redis.disconnect();
    }
}

/** The content of a key in latin1, since values may be bytes. */
async function contentOf(redis: Redis, key: string): Promise<string> {
    const type = await redis.type(key);
    const read: Readonly<Record<string, () => Promise<unknown>>> = {
        string: () => redis.getBuffer(key),
        hash: () => redis.hgetallBuffer(key),
        list: () => redis.lrangeBuffer(key, 0, -1),
        set: () => redis.smembersBuffer(key),
        zset: () => redis.zrangeBuffer(key, '0', '-1'),
        stream: () => redis.xrange(key, '-', '+'),
        none: async () => [],
    };
    if (read[type] === undefined) throw new Error(`${key} is of the type ${type}, which this cannot read`);
    return textOf(await read[type]());
}

function textOf(value: unknown): string {
    if (Buffer.isBuffer(value)) return value.toString('latin1');
    if (typeof value !== 'object' || value === null) return String(value);
    return Object.entries(value)
        .map(([name, one]) => `${name} ${textOf(one)}`)
        .join('\n');
}
