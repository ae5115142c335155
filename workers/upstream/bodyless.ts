import type { Method } from '../../shared/domain/types.ts';

/** Whether an answer has no body by definition: 204, 205 and answers to HEAD. */
export function hasNoBody({ status, method }: { status: number; method: Method }): boolean {
    return method === 'HEAD' || status === 204 || status === 205;
}

/** Statuses with which sites confirm a write without a body. */
const MAY_BE_EMPTY: ReadonlySet<number> = new Set([200, 201, 202]);

/** Whether an answer is empty and its data is `{}`: it has no body by definition, or an empty body with 200, 201 or 202. */
export function isEmptyAnswer(answer: { status: number; method: Method; body: Uint8Array }): boolean {
    return hasNoBody(answer) || (answer.body.length === 0 && MAY_BE_EMPTY.has(answer.status));
}
