import { readdirSync } from 'node:fs';
import type { App } from '../app.ts';
import { watchConnection } from '../platform/connection-log.ts';
import type { Db } from '../platform/db.ts';
import { isUnknownName } from '../platform/pg-errors.ts';
import { pollUntil } from '../platform/poll-until.ts';
import { within } from '../platform/within.ts';

/** Timeout of a check, in milliseconds. A check that takes longer counts as down, because the caller needs an answer soon. */
const CHECK_MS = 900;
/** How a starting process polls its database. */
const LOOKS = { everyMs: 1000, maxMs: Number.POSITIVE_INFINITY };

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

/** Logs at the start why a process cannot serve: its database is unreachable, not migrated, or read-only. */
export async function logUntilMigrated({ db, log, isDraining }: Pick<App, 'db' | 'log' | 'isDraining'>): Promise<void> {
    const status = watchConnection(log, 'database');
    const look = async (): Promise<boolean | undefined> => {
        try {
            return await isMigrated(db);
        } catch (error) {
            if (isUnknownName(error)) return false;
            status.down(error);
            return undefined;
        }
    };
    const migrated = await pollUntil(LOOKS, look, (answer) => answer !== undefined || isDraining());
    if (migrated === undefined) return;
    status.up();
    if (!migrated) log.error({ part: 'database' }, 'the database is not up to date: run npm run migrate');
    if (await isReadOnly(db).catch(() => false)) {
        log.error(
            { part: 'database' },
            'DATABASE_URL leads to a PostgreSQL that takes no writes: a standby, or default_transaction_read_only',
        );
    }
}

async function isReadOnly(db: Db): Promise<boolean> {
    const { rows } = await db.raw<{ rows: { is_read_only: boolean }[] }>(
        `select current_setting('transaction_read_only')::boolean as is_read_only`,
    );
    return rows[0]?.is_read_only === true;
}

/** For /readyz: the process reaches its database, which is migrated, and is not shutting down. */
export async function isReady({ db, isDraining }: Pick<App, 'db' | 'isDraining'>): Promise<boolean> {
    return !isDraining() && (await isDatabaseUp(db));
}
