import { readdirSync } from 'node:fs';
import type { App } from '../app.ts';
import type { Db } from '../platform/db.ts';
import { within } from '../platform/within.ts';

/** Timeout of a check, in milliseconds. A check that takes longer counts as down, because the caller needs an answer soon. */
const CHECK_MS = 900;

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

/** Whether the database answers and has every migration of this release. */
export function isDatabaseUp(db: Db): Promise<boolean> {
    return isUp(async () => {
        const found = await db('migrations').where({ name: NEWEST_MIGRATION }).first('name');
        if (found === undefined) throw new Error('the database is of an earlier release');
    });
}

/** For /readyz: the process reaches its database, which is migrated, and is not shutting down. */
export async function isReady({ db, isDraining }: Pick<App, 'db' | 'isDraining'>): Promise<boolean> {
    return !isDraining() && (await isDatabaseUp(db));
}
