import { readdirSync } from 'node:fs';
import type { App } from '../app.ts';
import type { Db } from '../platform/db.ts';
import { isUnknownName, retryUntilKnown } from '../platform/pg-errors.ts';
import { within } from '../platform/within.ts';

/** Timeout of a check, in milliseconds. A check that takes longer counts as down, because the caller needs an answer soon. */
const CHECK_MS = 900;
/** Patience with a database that does not answer yet when a process starts. */
const START_MS = 60_000;

/** The newest migration that this release knows. A later release adds its own and leaves this one. */
const NEWEST_MIGRATION = readdirSync(new URL('../../migrations', import.meta.url))
    .filter((file) => file.endsWith('.ts'))
    .toSorted()
    .at(-1);

export function isUp(check: () => PromiseLike<unknown>): Promise<boolean> {
    const answered = async () => {
        await check();
        return true;
    };
    return within(CHECK_MS, answered(), () => false).catch(() => false);
}

async function isMigrated(db: Db): Promise<boolean> {
    return (await db('migrations').where({ name: NEWEST_MIGRATION }).first('name')) !== undefined;
}

/** Whether the database answers and has every migration of this release. */
export function isDatabaseUp(db: Db): Promise<boolean> {
    return isUp(async () => {
        if (!(await isMigrated(db))) throw new Error('the database is of an earlier release');
    });
}

/** Whether a statement failed because `npm run migrate` has not run. On a database of this release, the statement itself is wrong. */
export async function isNotMigrated(db: Db, error: unknown): Promise<boolean> {
    return isUnknownName(error) && !(await isDatabaseUp(db));
}

/** Logs at the start why a process will not be ready. What else keeps a database away is logged by those who use it. */
export async function logIfNotMigrated({ db, log }: Pick<App, 'db' | 'log'>): Promise<void> {
    const migrated = retryUntilKnown(START_MS, () => isMigrated(db));
    if (await migrated.catch((error: unknown) => !isUnknownName(error))) return;
    log.error({ part: 'database' }, 'the database is not up to date: run npm run migrate');
}

/** For /readyz: the process reaches its database, which is migrated, and is not shutting down. */
export async function isReady({ db, isDraining }: Pick<App, 'db' | 'isDraining'>): Promise<boolean> {
    return !isDraining() && (await isDatabaseUp(db));
}
