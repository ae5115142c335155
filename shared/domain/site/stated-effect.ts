import type { Endpoint } from '../types.ts';

/** Whether an endpoint says that it reads with a method that usually writes. */
export function isDoubtful({ effect, method }: Pick<Endpoint, 'effect' | 'method'>): boolean {
    return effect === 'read' && method !== 'GET' && method !== 'HEAD';
}
