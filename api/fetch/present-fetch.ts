import type { FetchAnswer } from '../../shared/contracts/fetch.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/call.ts';
import type { Admitted } from '../../shared/fetch/admit.ts';
import { answerText } from '../../shared/fetch/answer-text.ts';
import type { FetchOrder } from '../../shared/fetch/order.ts';
import type { Settled } from '../../shared/fetch/settle.ts';
import type { AnswerToKeep } from '../../shared/store/credits/credits.ts';
import type { Call, Reply } from '../call.ts';

export function presentFetch(order: FetchOrder, admitted: Admitted, settled: Settled & { ok: true }): Reply<FetchAnswer> {
    if (settled.kept !== undefined) return { text: settled.kept, isKept: true };
    const { head, tail } = answerText(order, admitted, settled);
    return { text: `${head}${settled.available}${tail}`, isKept: false };
}

/**
 * Returns a function that encrypts the answer. It runs before the SQL statement that charges the account and stores the answer. Undefined
 * for a call without an Idempotency-Key.
 */
export function answerToKeep(
    { app: { idempotency }, keyed }: Pick<Call<unknown, unknown, unknown>, 'app' | 'keyed'>,
    order: FetchOrder,
    admitted: Admitted,
    outcome: FetchOutcome,
): ((charged: number) => Promise<AnswerToKeep>) | undefined {
    if (keyed === undefined || !outcome.ok) return undefined;
    return async (charged) => {
        const { head, tail } = answerText(order, admitted, { outcome, charged, durationMs: performance.now() - order.times.began });
        return { call: keyed, head, tail, sealed: await idempotency.seal({ headers: {}, head, tail }) };
    };
}
