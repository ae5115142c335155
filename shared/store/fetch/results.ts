import type { PaginationEnd } from '../../domain/fetch/pages.ts';
import type { Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { textInTurns, toBase64InTurns } from '../../platform/turns.ts';

/** Limits of results that are stored for `max_age`, in bytes and seconds (docs/api.md, "Hosted fetch"). */
export const MAX_KEPT_BYTES = 1024 * 1024;
export const ACCOUNT_BYTES = 64 * 1024 * 1024;
export const MAX_AGE_SECONDS = 86_400;

/** Maximum time that an answer waits for its result to be stored or found, in milliseconds. */
const KEEP_MS = 1000;
const PURPOSE = 'result';

/** The result of a read that an account paid for. */
export interface StoredResult {
    /** `data` of the answer, as JSON text. */
    text: string;
    results: number;
    paginationEnd?: PaginationEnd;
}

/** The account of a result, and the hash (hex) of the question that it answers. */
interface ResultPlace {
    accountId: string;
    question: string;
}

const KEEP: PreparedQuery = { name: 'kept_results_keep', text: 'select kept_results_keep($1, $2, $3, $4, $5)' };

const FIND: PreparedQuery = {
    name: 'kept_results_find',
    text: `select sealed, results from kept_results
        where account_id = $1 and question = decode($2, 'hex') and kept_at >= app_now() - $3 * interval '1 second'`,
};

/** Stores an encrypted result and replaces an earlier one. Deletes the oldest results of the account if space is needed. */
export async function keepResult(db: Db, secrets: Secrets, place: ResultPlace, result: StoredResult): Promise<void> {
    const { text, results, paginationEnd } = result;
    const sealed = await toBase64InTurns(await secrets.seal(paginationEnd === undefined ? text : `${paginationEnd}\n${text}`, PURPOSE));
    await runPrepared(db, KEEP, [place.accountId, place.question, sealed, results, ACCOUNT_BYTES], KEEP_MS);
}

/** The account's result for this question, at most `maxAge` seconds old; undefined if no key of the ring decrypts it. */
export async function findResult(db: Db, secrets: Secrets, place: ResultPlace, maxAge: number): Promise<StoredResult | undefined> {
    const [row] = await runPrepared<{ sealed: Buffer; results: number }>(db, FIND, [place.accountId, place.question, maxAge], KEEP_MS);
    const text = row && (await secrets.open(row.sealed, PURPOSE));
    return row && text && { ...withoutEnd(await textInTurns(text)), results: row.results };
}

function withoutEnd(stored: string): Omit<StoredResult, 'results'> {
    const end = /^[a-z_]+(?=\n)/.exec(stored)?.[0];
    return end === undefined ? { text: stored } : { text: stored.slice(end.length + 1), paginationEnd: end as PaginationEnd };
}

export async function forgetResult(trx: Db, { accountId, question }: ResultPlace): Promise<void> {
    // Every transaction that changes the results of an account locks this row first.
    await trx('kept_result_bytes').where({ account_id: accountId }).forUpdate().first();
    const [gone] = await trx('kept_results')
        .where({ account_id: accountId, question: Buffer.from(question, 'hex') })
        .delete()
        .returning<{ size: number }[]>('size');
    if (gone !== undefined) await trx('kept_result_bytes').where({ account_id: accountId }).decrement('bytes', gone.size);
}

/** Deletes expired results and returns their number. Any process may run it at any time. */
export async function sweepResults(db: Db): Promise<number> {
    const swept = await db.first(db.raw('kept_results_sweep(?, ?) as count', [MAX_AGE_SECONDS, 2000]));
    return swept.count;
}
