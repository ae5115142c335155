import type { Db } from '../db.ts';

/** Bounds of what is kept for `max_age`, in bytes and seconds (CONTRACT section 4). */
export const RESULT_BYTES = 1024 * 1024;
export const ACCOUNT_BYTES = 64 * 1024 * 1024;
export const MAX_AGE_SECONDS = 86_400;

/** The caller's answer waits no longer than this for its result to be kept, nor for one to be found, in milliseconds. */
const KEEP_MS = 1000;

/** A read that an account paid for. */
export interface KeptResult {
    /** `data` of the answer as JSON text. */
    text: string;
    /** As `meta.results` said. */
    results: number;
}

/** Keeps a result under a question (a hash in hex) in the place of an earlier one; the account's oldest make room. */
export async function keepResult(db: Db, accountId: string, question: string, { text, results }: KeptResult): Promise<void> {
    await db.raw('select kept_results_keep(?, ?, ?, ?, ?)', [accountId, question, text, results, ACCOUNT_BYTES]).timeout(KEEP_MS);
}

/** The account's result of this very question, at most `maxAge` seconds old. */
export async function findResult(db: Db, accountId: string, question: string, maxAge: number): Promise<KeptResult | undefined> {
    const { rows } = await db
        .raw<{ rows: KeptResult[] }>(
            `select result as text, results from kept_results
             where account_id = ? and question = decode(?, 'hex') and kept_at >= app_now() - ? * interval '1 second'`,
            [accountId, question, maxAge],
        )
        .timeout(KEEP_MS);
    return rows[0];
}

/** Deletes results that nobody can ask for any more; how many. Safe to run anywhere, at once. */
export async function sweepResults(db: Db, limit = 2000): Promise<number> {
    const { rows } = await db.raw<{ rows: { count: number }[] }>('select kept_results_sweep(?, ?) as count', [MAX_AGE_SECONDS, limit]);
    return rows[0]?.count ?? 0;
}
