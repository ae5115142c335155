import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stopLeftover } from './leftover.ts';

/** PostgreSQL refuses to run as root: then this other user runs it. */
export interface Account {
    uid: number;
    gid: number;
}

/** Where one embedded server keeps its programs, its log and its cluster (PostgreSQL's word for a data folder). */
export interface Home {
    folder: string;
    cluster: string;
    log: string;
    /** Set when this process is root. */
    account?: Account;
}

/** Root's own place for clusters that cannot lie in a data folder which only root may enter. */
const OUTSIDE = '/var/lib/routebook';
const RECORD = 'postgres.json';
const OWNER = 'data-dir';

/** The home that belongs to a data folder, if one was made; nothing is created. */
export function findHome(dataDir: string): Home | undefined {
    const outside = recorded(dataDir);
    const folder = outside ?? join(dataDir, 'postgres');
    return existsSync(join(folder, 'cluster')) ? homeAt(folder) : undefined;
}

/**
 * Finds or makes the home of a data folder. It is `<dataDir>/postgres`, except where this process is root and the user that has to run
 * the server cannot get there (a project below /root): then it is a folder under /var/lib/routebook, and `<dataDir>/postgres.json`
 * says which. Removing the data folder still means to start anew: its abandoned homes outside are removed when the next one is made.
 */
export async function openHome(dataDir: string): Promise<Home> {
    const outside = recorded(dataDir);
    if (outside !== undefined && existsSync(outside)) {
        refuseCopy(dataDir, outside);
        writeFileSync(join(outside, OWNER), dataDir);
        return homeAt(outside);
    }
    const inside = join(dataDir, 'postgres');
    mkdirSync(inside, { recursive: true, mode: 0o755 });
    const home = homeAt(inside);
    if (home.account === undefined || mayEnter(inside, home.account)) return home;
    rmSync(inside, { recursive: true });
    return homeAt(await makeOutside(dataDir));
}

function homeAt(folder: string): Home {
    const cluster = join(folder, 'cluster');
    const account = process.getuid?.() === 0 ? accountFor(cluster) : undefined;
    return { folder, cluster, log: join(folder, 'server.log'), ...(account ? { account } : {}) };
}

/** The owner of the existing folder; else the user `postgres`; else the user `nobody`. */
function accountFor(cluster: string): Account {
    if (existsSync(cluster)) {
        const { uid, gid } = statSync(cluster);
        if (uid !== 0) return { uid, gid };
    }
    const account = lookUp('postgres') ?? lookUp('nobody');
    if (account === undefined)
        throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody: start as another user');
    return account;
}

function lookUp(user: string): Account | undefined {
    try {
        const id = (option: string) =>
            Number(execFileSync('id', [option, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
        return { uid: id('-u'), gid: id('-g') };
    } catch {
        return undefined;
    }
}

/** Makes a folder the server's alone. */
export function giveTo(folder: string, account: Account | undefined): void {
    chmodSync(folder, 0o700);
    if (account !== undefined) chownSync(folder, account.uid, account.gid);
}

function mayEnter(folder: string, account: Account): boolean {
    return spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status === 0;
}

function recorded(dataDir: string): string | undefined {
    const path = join(dataDir, RECORD);
    if (!existsSync(path)) return undefined;
    return (JSON.parse(readFileSync(path, 'utf8')) as { folder: string }).folder;
}

async function makeOutside(dataDir: string): Promise<string> {
    mkdirSync(OUTSIDE, { recursive: true, mode: 0o755 });
    for (const name of readdirSync(OUTSIDE)) {
        const abandoned = join(OUTSIDE, name);
        if (ownerOf(abandoned) !== dataDir) continue;
        await stopLeftover(join(abandoned, 'cluster'));
        rmSync(abandoned, { recursive: true, force: true });
    }
    const folder = join(OUTSIDE, randomBytes(6).toString('hex'));
    mkdirSync(folder, { mode: 0o755 });
    writeFileSync(join(folder, OWNER), dataDir);
    writeFileSync(join(dataDir, RECORD), `${JSON.stringify({ folder })}\n`);
    return folder;
}

/** A copied data folder names the cluster of the original: two servers must not share one. */
function refuseCopy(dataDir: string, outside: string): void {
    const owner = ownerOf(outside);
    if (owner === undefined || owner === dataDir || recorded(owner) !== outside) return;
    throw new Error(
        `${dataDir} is a copy of ${owner} and names the same database ${outside}: remove ${join(dataDir, RECORD)} to start with an empty one`,
    );
}

function ownerOf(outside: string): string | undefined {
    const path = join(outside, OWNER);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
