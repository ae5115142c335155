import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** The PostgreSQL of the operating system: the oldest supported version, with its own tools. */
export interface DebianPostgres {
    /** The pid of the postmaster; the backends are its children. Changes with each start. */
    pid(): number;
    port: number;
    user: string;
    password: string;
    /** URL of one of its databases. */
    url(database: string): string;
    /** Runs one of its client tools (`pg_dump`, `pg_restore`, `createdb`) against it. */
    tool(name: string, args: readonly string[]): Promise<string>;
    /** Stops it as `pg_ctl stop` does: `fast`, or `immediate` (a crash; the next start recovers from it). */
    stop(mode: 'fast' | 'immediate'): Promise<void>;
    /** Starts it again with the same port and data. */
    start(): Promise<void>;
    /** Runs a statement as superuser. */
    run(statement: string): Promise<unknown[]>;
    remove(): Promise<void>;
}

const USER = 'routebook';
const PASSWORD = 'a password of the tests';
/** PostgreSQL refuses to run as root; this user comes with Debian's package. */
const SYSTEM_USER = 'postgres';

interface DebianOptions {
    /** Settings in addition to the default ones, as `name=value`. */
    settings?: readonly string[];
    /** If false, a crash of the machine may lose written data: `fsync=off`. */
    isDurable?: boolean;
    /** `trust` accepts any password. */
    auth?: 'scram-sha-256' | 'trust';
    /** The server that this one follows as a hot standby, from a copy of it. */
    standbyOf?: DebianPostgres;
    /** PEM texts, so that the server accepts TLS. */
    tls?: { key: string; certificate: string };
}

/** Starts a new cluster on a free port of 127.0.0.1, with the collation of a UTF-8 locale that sorts by language (en-US). */
export async function startDebianPostgres(options: DebianOptions = {}): Promise<DebianPostgres> {
    const { settings: more = [], isDurable = false, auth = 'scram-sha-256', tls, standbyOf } = options;
    const programs = newestPrograms();
    const folder = mkdtempSync(join(tmpdir(), 'routebook-debian-'));
    const isRoot = process.getuid?.() === 0;
    const run = promisify(execFile);
    const asUser = (program: string, args: readonly string[]): [string, string[]] =>
        isRoot
            ? ['setpriv', [`--reuid=${SYSTEM_USER}`, `--regid=${SYSTEM_USER}`, '--clear-groups', program, ...args]]
            : [program, [...args]];
    const home = join(folder, 'home');
    mkdirSync(home);
    chmodSync(folder, 0o755);
    const owner = isRoot ? Number((await run('id', ['-u', SYSTEM_USER])).stdout) : -1;
    chownSync(home, owner, -1);
    if (standbyOf === undefined) {
        const secret = join(folder, 'password');
        writeFileSync(secret, PASSWORD);
        await run(
            ...asUser(join(programs, 'initdb'), [
                ...['-D', join(home, 'cluster'), '-U', USER, '--pwfile', secret],
                ...['-A', auth, '-E', 'UTF8', '--locale', 'C.UTF-8'],
                ...['--locale-provider', 'icu', '--icu-locale', 'en-US'],
            ]),
        );
    } else {
        const primary = standbyOf.url('postgres');
        await run(...asUser(join(programs, 'pg_basebackup'), ['-D', join(home, 'cluster'), '-R', '-c', 'fast', '-d', primary]));
    }
    const port = await freePort();
    const own = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
    const settings = [...(isDurable ? [] : ['fsync=off']), ...own, ...(tls === undefined ? [] : offerTls(home, owner, tls)), ...more];
    const url = (database: string) => `postgresql://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
    let server: ChildProcess;
    const start = async () => {
        server = spawn(
            ...asUser(join(programs, 'postgres'), [
                ...['-D', join(home, 'cluster'), '-p', String(port)],
                ...settings.flatMap((setting) => ['-c', setting]),
            ]),
            { stdio: 'ignore' },
        );
        await eventually(
            () => isUp(url('postgres')),
            (up) => up,
            15_000,
        );
    };
    const stop = async (signal: 'SIGINT' | 'SIGQUIT') => {
        const gone = once(server, 'exit');
        server.kill(signal);
        await gone;
    };
    await start();
    return {
        pid: () => server.pid ?? 0,
        port,
        user: USER,
        password: PASSWORD,
        url,
        async tool(name, args) {
            const environment = { ...process.env, PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: USER, PGPASSWORD: PASSWORD };
            return (await run(join(programs, name), [...args], { env: environment })).stdout;
        },
        stop: (mode) => stop(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
        start,
        async run(statement) {
            const client = new pg.Client({ connectionString: url('postgres') });
            await client.connect();
            try {
                return (await client.query(statement)).rows;
            } finally {
                await client.end();
            }
        },
        async remove() {
            if (server.exitCode === null && server.signalCode === null) await stop('SIGINT');
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/**
 * Writes the files and returns the settings that name them. PostgreSQL needs a key that belongs to its user and that nobody else can read.
 */
function offerTls(home: string, owner: number, { key, certificate }: { key: string; certificate: string }): string[] {
    const [keyFile, certificateFile] = [join(home, 'server.key'), join(home, 'server.crt')];
    writeFileSync(keyFile, key, { mode: 0o600 });
    writeFileSync(certificateFile, certificate);
    chownSync(keyFile, owner, -1);
    return ['ssl=on', `ssl_key_file=${keyFile}`, `ssl_cert_file=${certificateFile}`];
}

function newestPrograms(): string {
    const root = '/usr/lib/postgresql';
    const versions = existsSync(root) ? readdirSync(root).filter((version) => existsSync(join(root, version, 'bin/postgres'))) : [];
    const newest = versions.toSorted((left, right) => Number(right) - Number(left))[0];
    if (newest === undefined) throw new Error('PostgreSQL is not installed here (Debian: apt-get install postgresql)');
    return join(root, newest, 'bin');
}

async function isUp(url: string): Promise<boolean> {
    const client = new pg.Client({ connectionString: url });
    try {
        await client.connect();
        return true;
    } catch {
        return false;
    } finally {
        await client.end().catch(() => {});
    }
}
