import type { App } from '../app.ts';
import type { Db } from '../platform/db.ts';
import { within } from '../platform/within.ts';

/** Timeout of a check, in milliseconds. A check that takes longer counts as down, because the caller needs an answer soon. */
const CHECK_MS = 900;

export function isUp(check: () => PromiseLike<unknown>): Promise<boolean> {
    const answered = async () => {
        await check();
        return true;
    };
    return within(CHECK_MS, answered(), () => false).catch(() => false);
}

/** Whether the database answers and is migrated: a migration creates `app_now()`. */
export function isDatabaseUp(db: Db): Promise<boolean> {
    return isUp(() => db.raw('select app_now()'));
}

/** For /readyz: the process reaches its database, which is migrated, and is not shutting down. */
export async function isReady({ db, isDraining }: Pick<App, 'db' | 'isDraining'>): Promise<boolean> {
    return !isDraining() && (await isDatabaseUp(db));
}
