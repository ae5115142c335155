import type { Method } from '../../shared/domain/types.ts';

/** Whether an answer has no body by definition: 204, 205 and answers to HEAD. */
export function isBodyless({ status, method }: { status: number; method: Method }): boolean {
    return method === 'HEAD' || status === 204 || status === 205;
}

/** The statuses of a write that succeeded and has nothing to say. */
const MAY_BE_EMPTY: ReadonlySet<number> = new Set([200, 201, 202]);

/** Whether an answer says nothing, which is `{}`: it has no body by definition, or an empty one with 200, 201 or 202. */
export function isEmptyAnswer(answer: { status: number; method: Method; body: Uint8Array }): boolean {
    return isBodyless(answer) || (answer.body.length === 0 && MAY_BE_EMPTY.has(answer.status));
}
