import type { Method } from '../../shared/domain/types.ts';

/** 204, 205 and the answer to HEAD have no body by definition; an empty 200 is another matter. */
export function isBodyless({ status, method }: { status: number; method: Method }): boolean {
    return method === 'HEAD' || status === 204 || status === 205;
}
