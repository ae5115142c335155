import type { App } from '../app.ts';
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

/** For /readyz: the process reaches its database and is not shutting down. */
export async function isReady({ db, isDraining }: Pick<App, 'db' | 'isDraining'>): Promise<boolean> {
    return !isDraining() && (await isUp(() => db.raw('select 1')));
}
