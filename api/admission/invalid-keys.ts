import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import { isWellFormedKey, keyHash } from '../../shared/domain/accounts/api-key.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Check } from './check.ts';
import type { ClientPacing } from './client-pacing.ts';
import { perApp } from './per-app.ts';
import { reject, rejectionCounter } from './rejections.ts';
import { bearerKey, headerCopies } from './request-headers.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** The rate of invalid keys in this process. `areMany`: it is too high to be caused by mistakes. */
export const invalidKeysOf = perApp(({ config: { guessesPerSecond: perSecond } }) => {
    const buckets = createTokenBuckets({ capacity: perSecond, perSecond });
    return { count: () => void buckets.take(''), areMany: () => buckets.spent('') > perSecond - 1 };
});

/**
 * While there are many invalid keys, rejects them before hapi does, with the same answer (goal I12). Valid keys pass; a key that this
 * process has not seen for ten minutes is looked up together with the invalid ones, up to 25 ms later.
 */
export function invalidKeyThrottling(app: App, pacing: ClientPacing): Check {
    const invalidKeys = invalidKeysOf(app);
    const countRejection = rejectionCounter(app, { code: 'INVALID_API_KEY', message: 'many requests carry invalid keys' });
    const nextBatch = createBatchTimer();

    return (arrival, pass) => {
        const { request, contract } = arrival;
        const { authorization } = request.headers;
        const isThrottled = authorization !== undefined && invalidKeys.areMany() && headerCopies(request, 'authorization') === 1;
        const key = isThrottled ? bearerKey(authorization) : undefined;
        if (key === undefined || contract === undefined || contract.auth === 'ignored') return pass();
        const refuse = () => {
            invalidKeys.count();
            countRejection(contract);
            pacing.pace(request, () => reject(app, arrival, new Refusal('INVALID_API_KEY')));
        };
        if (!isWellFormedKey(key)) return refuse();
        const hash = keyHash(key);
        const findCaller = async () => {
            if (!app.keys.isFamiliar(hash)) await nextBatch();
            return app.keys.find(hash);
        };
        // If the database is down, hapi answers with its error.
        findCaller().then((caller) => (caller === undefined ? refuse() : pass()), pass);
    };
}

/** One query for all keys of 25 ms costs the database a tenth of one query for each turn of the event loop. */
const BATCH_MS = 25;

function createBatchTimer(): () => Promise<void> {
    let next: Promise<void> | undefined;
    return () => {
        next ??= sleep(BATCH_MS).then(() => {
            next = undefined;
        });
        return next;
    };
}
