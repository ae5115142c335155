import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** PostgreSQL refuses to run as root. Then this other user runs it. */
export interface Account {
    uid: number;
    gid: number;
}

/** The paths of the programs, the log and the cluster of one embedded server. "Cluster" is PostgreSQL's word for a data folder. */
export interface Home {
    folder: string;
    cluster: string;
    log: string;
    /** Set if this process runs as root. */
    account?: Account;
}

/** For homes whose data folder only root may enter. */
const OUTSIDE = '/var/lib/routebook';

export function findHome(dataDir: string): Home | undefined {
    const place = join(dataDir, 'postgres');
    return existsSync(join(place, 'cluster')) ? homeAt(realpathSync(place)) : undefined;
}

/**
 * Finds or creates the home of a data folder: `<dataDir>/postgres`. If this process runs as root and the server's user cannot enter the
 * data folder (a project below /root), the home is a link to a folder under /var/lib/routebook.
 */
export function ensureHome(dataDir: string): Home {
    const place = join(dataDir, 'postgres');
    if (!existsSync(place)) {
        // There may be a link whose target no longer exists.
        rmSync(place, { force: true });
        mkdirSync(place, { mode: 0o755 });
        const { account } = homeAt(place);
        if (account !== undefined && !mayEnter(place, account)) {
            rmdirSync(place);
            mkdirSync(OUTSIDE, { recursive: true, mode: 0o755 });
            const outside = mkdtempSync(`${OUTSIDE}/`);
            chmodSync(outside, 0o755);
            symlinkSync(outside, place);
        }
    }
    return homeAt(realpathSync(place));
}

/** Makes the server's user the owner of a folder and removes the access of others. */
export function giveTo(folder: string, account: Account | undefined): void {
    chmodSync(folder, 0o700);
    if (account !== undefined) chownSync(folder, account.uid, account.gid);
}

function homeAt(folder: string): Home {
    const cluster = join(folder, 'cluster');
    return { folder, cluster, log: join(folder, 'server.log'), ...(process.getuid?.() === 0 ? { account: accountFor(cluster) } : {}) };
}

/** The owner of an existing cluster, otherwise the user `postgres`, otherwise `nobody`. */
function accountFor(cluster: string): Account {
    const { uid, gid } = existsSync(cluster) ? statSync(cluster) : { uid: 0, gid: 0 };
    if (uid !== 0) return { uid, gid };
    for (const user of ['postgres', 'nobody']) {
        try {
            const idOf = (option: string) => Number(execFileSync('id', [option, user], { stdio: ['ignore', 'pipe', 'ignore'] }));
            return { uid: idOf('-u'), gid: idOf('-g') };
        } catch {
            // The user does not exist.
        }
    }
    throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody: start as another user');
}

function mayEnter(folder: string, account: Account): boolean {
    return spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status === 0;
}
