import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import pg from 'pg';
import { installBinaries } from './embedded-postgres/binaries.ts';
import { lockFolder } from './embedded-postgres/folder-lock.ts';
import { ensureHome, findHome } from './embedded-postgres/home.ts';
import { findPostmaster } from './embedded-postgres/postmaster.ts';
import { initialise, PORT, type Server, type Setup, startServer, USER } from './embedded-postgres/server.ts';
import { openSocketFolder } from './embedded-postgres/socket-folder.ts';
import type { LifecycleLog } from './lifecycle.ts';

const DATABASE = 'routebook';

export interface EmbeddedPostgres {
    /** URL for `pg` and knex: a unix socket in a private folder, without password and TCP. */
    url: string;
    /** Whether this start created it, empty. */
    isNew: boolean;
    /** Stops the server (fast shutdown). Resolves when the server has exited. Later calls do the same. */
    stop(): Promise<void>;
}

interface EmbeddedPostgresOptions {
    /** The data folder (DATA_DIR). It is created if it does not exist. */
    dataDir: string;
    log: LifecycleLog;
    /** False only in tests: the server does not force data to the disk. */
    durable?: boolean;
}

/**
 * Starts PostgreSQL on the cluster of a data folder. The first start creates an empty database `routebook`. Cleans up after a killed
 * process and recovers its data.
 * @throws an Error of one line: the folder is in use (with its path and the pid), no binaries for this platform, the server does not start
 */
export async function startEmbeddedPostgres({ dataDir, log, durable = true }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    mkdirSync(dataDir, { recursive: true });
    const home = ensureHome(realpathSync(dataDir));
    const opened: (() => Promise<void> | void)[] = [await lockFolder(home.folder, dataDir)];
    let stopped: Promise<void> | undefined;
    const stop = () => {
        stopped ??= (async () => {
            for (const close of opened.reverse()) await close();
        })();
        return stopped;
    };
    try {
        const binaries = installBinaries(home.folder);
        const isNew = await initialise({ home, binaries, durable });
        const socketFolder = openSocketFolder(home);
        opened.push(() => rmSync(socketFolder, { recursive: true, force: true }));
        opened.push(await keepRunning({ home, binaries, socketFolder, durable }, log));
        await createDatabase(socketFolder);
        log.info({ folder: home.folder }, 'the embedded PostgreSQL is up');
        return { url: urlOf(socketFolder, DATABASE), isNew, stop };
    } catch (error) {
        await stop();
        throw error;
    }
}

/** The URL of the server that runs on this data folder; undefined if no server runs or it is not ready. */
export function findRunning(dataDir: string): string | undefined {
    try {
        const home = findHome(realpathSync(dataDir));
        const postmaster = home && findPostmaster(home.cluster);
        return postmaster?.isReady ? urlOf(postmaster.socketFolder, DATABASE) : undefined;
    } catch {
        return undefined;
    }
}

/** Starts the server, and restarts it under the same URL when it dies. @returns a function that stops it permanently */
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

/** For pg, the host in the query takes precedence. The first host makes the text a valid URL for every parser. */
function urlOf(socketFolder: string, database: string): string {
    return `postgresql://${USER}@localhost:${PORT}/${database}?host=${encodeURIComponent(socketFolder)}`;
}
