import type { Method } from '../../shared/domain/types.ts';

/** Whether an answer has no body by definition: 204, 205 and answers to HEAD. An empty 200 does not count. */
export function isBodyless({ status, method }: { status: number; method: Method }): boolean {
    return method === 'HEAD' || status === 204 || status === 205;
}
