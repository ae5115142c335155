import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../shared/platform/embedded-postgres.ts';
import { freePort, parentOf, start } from './processes.ts';

/** A database server of the bench's own. */
export interface Postgres {
    /** Of the postmaster; the backends are its children. */
    pid: number;
    /** URL of another, new database on it. */
    createDatabase(name: string): Promise<string>;
    stop(): Promise<void>;
}

/** PostgreSQL as it is shipped, with fsync and synchronous_commit on, in a folder that goes in the end. */
export async function openPostgres(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-bench-'));
    chmodSync(folder, 0o755);
    const server = await startEmbeddedPostgres({
        dataDir: folder,
        log: { info() {}, error: (fields, message) => console.error(message, fields) },
    });
    const [row] = await ask<{ pid: number; fsync: string; commit: string }>(
        server.url,
        `select pg_backend_pid() as pid, current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`,
        (backend) => ({ ...backend, pid: parentOf(backend.pid) }),
    );
    if (row === undefined || row.fsync !== 'on' || row.commit !== 'on') throw new Error('the bench wants a durable PostgreSQL');
    return {
        pid: row.pid,
        async createDatabase(name) {
            await ask(server.url, `create database ${name}`);
            return server.url.replace('/routebook?', `/${name}?`);
        },
        async stop() {
            await server.stop();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/** @param see what to keep of each row, while the connection is still open */
async function ask<Row extends pg.QueryResultRow>(url: string, sql: string, see: (row: Row) => Row = (row) => row): Promise<Row[]> {
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
    /** Commands that it has run so far, those of scripts included and by name. */
    commands(): Promise<Map<string, number>>;
    /** What its keys and all else take. */
    memoryMb(): Promise<number>;
    stop(): Promise<void>;
}

/** Redis as the product wants it: an append-only file, synced every second, no eviction. */
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

/** One inline command and all that comes back within a moment; empty where nobody listens. */
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
