import { Refusal } from '../../shared/refusals.ts';

/** The Retry-After of a wait in milliseconds: whole seconds, at least 1. */
export function retryAfter(waitMs: number): number {
    return Math.max(1, Math.ceil(waitMs / 1000));
}

/** The refusal of a fetch that would wait this many milliseconds in the queue. */
export function overloaded(waitMs: number): Refusal {
    return new Refusal('OVERLOADED', undefined, { retryAfter: retryAfter(waitMs) });
}
