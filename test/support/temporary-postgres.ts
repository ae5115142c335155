import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findHome } from '../../shared/platform/embedded-postgres/home.ts';
import { openSocketFolder } from '../../shared/platform/embedded-postgres/socket-folder.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../shared/platform/embedded-postgres.ts';
import { startDebianPostgres } from './debian-postgres.ts';

/** Prefix of the folder's name; the pid of the test run follows. */
const TEMPORARY = 'routebook-test-';

/** Starts PostgreSQL as Debian ships it for a test run, with the same access as the embedded one. */
export async function startTemporaryDebianPostgres(): Promise<Omit<EmbeddedPostgres, 'isNew'>> {
    const server = await startDebianPostgres({ settings: ['synchronous_commit=off', 'full_page_writes=off'], auth: 'trust' });
    await server.tool('createdb', ['routebook']);
    return { url: server.url('routebook'), stop: () => server.remove() };
}

/** Starts a server for a test run. `stop` removes its folder. The folders of killed runs are removed now. */
export async function startTemporaryPostgres(): Promise<Omit<EmbeddedPostgres, 'isNew'>> {
    removeAbandonedServers(tmpdir());
    const dataDir = mkdtempSync(join(tmpdir(), `${TEMPORARY}${process.pid}-`));
    chmodSync(dataDir, 0o755);
    const server = await startEmbeddedPostgres({
        dataDir,
        durable: false,
        log: { info() {}, error: (fields, message) => console.error(message, fields) },
    });
    return {
        url: server.url,
        async stop() {
            await server.stop();
            removeDataFolder(dataDir);
        },
    };
}

/** Removes the servers of killed test runs in this folder. */
export function removeAbandonedServers(folder: string): void {
    for (const name of readdirSync(folder)) {
        const pid = new RegExp(`^${TEMPORARY}(\\d+)-`).exec(name)?.[1];
        if (pid !== undefined && !isRunning(Number(pid))) removeDataFolder(join(folder, name));
    }
}

function removeDataFolder(dataDir: string): void {
    const home = findHome(realpathSync(dataDir));
    if (home !== undefined) for (const made of [openSocketFolder(home), home.folder]) rmSync(made, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
}

function isRunning(pid: number): boolean {
    try {
        process.kill(pid, 0);
        return true;
    } catch (error) {
        return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
}
