import type { Endpoint } from '../types.ts';

/** Whether an endpoint declares to be a read although its method usually writes. */
export function isDoubtful({ effect, method }: Pick<Endpoint, 'effect' | 'method'>): boolean {
    return effect === 'read' && method !== 'GET' && method !== 'HEAD';
}
