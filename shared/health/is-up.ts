import type { App } from '../app.ts';

/** Timeout of a check, in milliseconds. A check that takes longer counts as down, because the caller needs an answer soon. */
const CHECK_MS = 900;

export async function isUp(check: () => PromiseLike<unknown>): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), CHECK_MS);
    try {
        return await Promise.race([Promise.resolve(check()).then(() => true), late]);
    } catch {
        return false;
    } finally {
        clearTimeout(timer);
    }
}

/** For /readyz: the process reaches its database and is not shutting down. */
export async function isReady({ db, isDraining }: Pick<App, 'db' | 'isDraining'>): Promise<boolean> {
    return !isDraining() && (await isUp(() => db.raw('select 1')));
}
