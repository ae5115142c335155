import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../shared/platform/embedded-postgres.ts';
import { startDebianPostgres } from '../../test/support/debian-postgres.ts';
import { freePort, parentOf, start } from './processes.ts';

/** The PostgreSQL of the bench: the embedded one, Debian's, or a server given by the URL of one of its databases. */
export type PostgresKind = 'embedded' | 'debian' | `postgres${string}`;

/** A database server on which the bench may create databases. */
export interface Postgres {
    /** The pid of the postmaster; the backends are its children. 0 if the server is on another machine. */
    pid: number;
    /** Creates a database and returns its URL. */
    createDatabase(name: string): Promise<string>;
    /** URL of a database for questions about the server itself. */
    url: string;
    stop(): Promise<void>;
}

/**
 * PostgreSQL with fsync and synchronous_commit on, and defaults otherwise. A server that the bench started itself is removed at the end.
 */
export async function openPostgres(kind: PostgresKind = 'embedded', { withStatements = false } = {}): Promise<Postgres> {
    if (kind === 'embedded') return openEmbedded(withStatements);
    if (kind === 'debian') return openDebian(withStatements);
    return describe(kind, async () => undefined);
}

async function openEmbedded(withStatements: boolean): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-bench-'));
    chmodSync(folder, 0o755);
    const log = { info() {}, error: (fields: object, message: string) => console.error(message, fields) };
    let server = await startEmbeddedPostgres({ dataDir: folder, log });
    if (withStatements) {
        await ask(server.url, "alter system set shared_preload_libraries = 'pg_stat_statements'");
        await server.stop();
        server = await startEmbeddedPostgres({ dataDir: folder, log });
    }
    return describe(server.url, async () => {
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
    });
}

async function openDebian(withStatements: boolean): Promise<Postgres> {
    const server = await startDebianPostgres({ isDurable: true, settings: withStatements ? [PRELOADED] : [] });
    return describe(server.url('postgres'), () => server.remove());
}

/** The setting that loads pg_stat_statements. */
export const PRELOADED = 'shared_preload_libraries=pg_stat_statements';

/** Describes a server. The databases that the bench created are dropped at the end, since the server may belong to somebody else. */
async function describe(url: string, close: () => Promise<void>): Promise<Postgres> {
    const [row] = await ask<{ pid: number; fsync: string; commit: string }>(
        url,
        `select pg_backend_pid() as pid, current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`,
        (backend) => ({ ...backend, pid: parentOf(backend.pid) }),
    );
    if (row === undefined || row.fsync !== 'on' || row.commit !== 'on') throw new Error('the bench wants a durable PostgreSQL');
    const made: string[] = [];
    return {
        pid: row.pid,
        url,
        async createDatabase(name) {
            const whole = `bench_${name}_${process.pid}`;
            await ask(url, `create database ${whole}`);
            made.push(whole);
            const its = new URL(url);
            its.pathname = `/${whole}`;
            return its.href;
        },
        async stop() {
            try {
                for (const name of made) await ask(url, `drop database ${name} with (force)`);
            } finally {
                await close();
            }
        },
    };
}

/** Runs a query. @param see maps each row while the connection is still open */
export async function ask<Row extends pg.QueryResultRow>(url: string, sql: string, see: (row: Row) => Row = (row) => row): Promise<Row[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
        return (await client.query<Row>(sql)).rows.map(see);
    } finally {
        await client.end();
    }
}

export interface Redis {
    pid: number;
    url: string;
    /** Commands that it has run so far by name, including those of scripts. */
    commands(): Promise<Map<string, number>>;
    /** Its memory for keys and everything else. */
    memoryMb(): Promise<number>;
    stop(): Promise<void>;
}

/** Redis as the product needs it: an append-only file, synced every second, no eviction. */
export async function openRedis(): Promise<Redis> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-bench-redis-'));
    const port = await freePort();
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'yes', appendfsync: 'everysec', loglevel: 'warning' };
    const server = start(
        'redis-server',
        Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    );
    for (let waits = 0; !(await talk(port, 'PING')).startsWith('+PONG'); waits++) {
        if (waits > 500) throw new Error('redis-server does not start: is it installed?');
        await sleep(10);
    }
    return {
        pid: server.pid,
        url: `redis://127.0.0.1:${port}`,
        async commands() {
            const stats = await talk(port, 'INFO commandstats');
            return new Map([...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = '', calls]) => [name, Number(calls)]));
        },
        async memoryMb() {
            return Number(/^used_memory:(\d+)/m.exec(await talk(port, 'INFO memory'))?.[1]) / 2 ** 20;
        },
        async stop() {
            await server.stop();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/** Sends one inline command and returns what arrives within a short time; empty if nobody listens. */
function talk(port: number, command: string): Promise<string> {
    return new Promise((done) => {
        let text = '';
        const socket = connect(port, '127.0.0.1', () => socket.end(`${command}\r\n`));
        socket.setEncoding('utf8');
        socket.on('data', (chunk) => {
            text += chunk;
        });
        socket.on('error', () => undefined);
        socket.on('close', () => done(text));
    });
}
