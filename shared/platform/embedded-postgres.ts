import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { installBinaries } from './embedded-postgres/binaries.ts';
import { isLocked, lockFolder } from './embedded-postgres/folder-lock.ts';
import { findHome, openHome } from './embedded-postgres/home.ts';
import { findPostmaster } from './embedded-postgres/leftover.ts';
import { initialise, PORT, type Server, type Setup, startServer, USER } from './embedded-postgres/server.ts';
import { openSocketFolder, removeSocketFolder } from './embedded-postgres/socket-folder.ts';
import type { LifecycleLog } from './lifecycle.ts';

const DATABASE = 'routebook';

export interface EmbeddedPostgres {
    /** For `pg` and knex: a unix socket in a folder of our own, no password, no TCP. */
    url: string;
    /** Fast shutdown; resolves when the server is gone. Calling it again does nothing more. */
    stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
    /** The data folder (DATA_DIR); made where it is missing. */
    dataDir: string;
    log: LifecycleLog;
    /** False for tests only: nothing is forced to the disk. */
    durable?: boolean;
}

/**
 * Starts PostgreSQL on the cluster of a data folder, with an empty database `routebook` at the first start. What a killed process left
 * is cleared, and its data recovered. Throws an Error of one line: folder in use (naming it and the pid), no binaries for this
 * platform, a server that does not come up.
 */
export async function startEmbeddedPostgres({ dataDir, log, durable = true }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    mkdirSync(dataDir, { recursive: true });
    const folder = realpathSync(dataDir);
    const lock = await lockFolder(folder);
    const opened: Array<() => Promise<void> | void> = [() => lock.release()];
    const stop = once(async () => {
        for (const close of opened.reverse()) await close();
    });
    try {
        const home = await openHome(folder);
        const binaries = installBinaries(home.folder);
        await initialise({ home, binaries, durable });
        const socketFolder = openSocketFolder(home);
        opened.push(() => removeSocketFolder(home, socketFolder));
        opened.push(await keepRunning({ home, binaries, socketFolder, durable }, log));
        await createDatabase(socketFolder);
        log.info({ folder: home.folder }, 'the embedded PostgreSQL is up');
        return { url: urlOf(socketFolder, DATABASE), stop };
    } catch (error) {
        await stop();
        throw error;
    }
}

const TEMPORARY = 'routebook-test-';

/** A server for a test run, with nothing to keep: `stop` removes its folder, and what killed runs left behind goes now. */
export async function startTemporaryPostgres(): Promise<EmbeddedPostgres> {
    removeAbandonedServers(tmpdir());
    const dataDir = mkdtempSync(join(tmpdir(), TEMPORARY));
    chmodSync(dataDir, 0o755);
    const log: LifecycleLog = { info() {}, error: (fields, message) => console.error(message, fields) };
    const server = await startEmbeddedPostgres({ dataDir, durable: false, log });
    return {
        url: server.url,
        stop: once(async () => {
            await server.stop();
            removeDataFolder(dataDir);
        }),
    };
}

/** Removes what servers of killed test runs left in this folder, and what belongs to it elsewhere. */
export function removeAbandonedServers(folder: string): void {
    for (const name of readdirSync(folder)) {
        const abandoned = join(folder, name);
        if (name.startsWith(TEMPORARY) && isAbandoned(abandoned)) removeDataFolder(abandoned);
    }
}

/** The URL of the server that runs on this data folder, for tools beside it; undefined where none runs or it is not ready. */
export async function findRunning(dataDir: string): Promise<string | undefined> {
    let home: ReturnType<typeof findHome>;
    try {
        home = findHome(realpathSync(dataDir));
    } catch {
        return undefined;
    }
    const postmaster = home && findPostmaster(home.cluster);
    return postmaster?.isReady ? urlOf(postmaster.socketFolder, DATABASE) : undefined;
}

/** Starts the server, and starts it again under the same URL when it dies by itself; returns what stops it for good. */
async function keepRunning(setup: Setup, log: LifecycleLog): Promise<() => Promise<void>> {
    let isStopping = false;
    let server = startServer(setup);
    const watch = async (running: Server): Promise<void> => {
        await running.gone;
        if (isStopping) return;
        log.error({ log_file: setup.home.log }, 'the embedded PostgreSQL died: starting it again');
        server = startServer(setup);
        await server.then(watch, (error) => log.error({ err: error }, 'the embedded PostgreSQL stays down'));
    };
    watch(await server);
    return async () => {
        isStopping = true;
        const running = await server.catch(() => undefined);
        await running?.stop();
    };
}

/** Its lock is there and names a process that is gone; a folder without a lock may be about to get one. */
function isAbandoned(dataDir: string): boolean {
    const isOwn = statSync(dataDir).uid === process.getuid?.();
    return isOwn && existsSync(join(dataDir, 'lock')) && !isLocked(dataDir);
}

function removeDataFolder(dataDir: string): void {
    const home = findHome(realpathSync(dataDir));
    if (home !== undefined) {
        removeSocketFolder(home, openSocketFolder(home));
        rmSync(home.folder, { recursive: true, force: true });
    }
    rmSync(dataDir, { recursive: true, force: true });
}

async function createDatabase(socketFolder: string): Promise<void> {
    const client = new pg.Client({ connectionString: urlOf(socketFolder, 'postgres') });
    await client.connect();
    try {
        const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
        if (rowCount === 0) await client.query(`create database ${DATABASE}`);
    } finally {
        await client.end();
    }
}

/** The host in the query wins in pg; the one before it only makes the text a URL to every parser. */
function urlOf(socketFolder: string, database: string): string {
    return `postgresql://${USER}@localhost:${PORT}/${database}?host=${encodeURIComponent(socketFolder)}`;
}

/** The first call does it; every call waits for it. */
function once(action: () => Promise<void>): () => Promise<void> {
    let running: Promise<void> | undefined;
    return () => {
        running ??= action();
        return running;
    };
}
