import type { Call } from '../call.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { perApp } from './per-app.ts';

const listsOf = perApp(() => new KeyedQueue());

/** Reads one long list of each account at a time: it may read 100,000 rows, on one of the few connections that all accounts share. */
export function listInTurn<Result>(
    { app, caller, gone }: Pick<Call<unknown, unknown, unknown>, 'app' | 'caller' | 'gone'>,
    read: () => Promise<Result>,
): Promise<Result> {
    return listsOf(app).run({ keys: [caller.accountId], gone }, read);
}
