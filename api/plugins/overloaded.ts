import { Refusal } from '../../shared/refusals.ts';

/** Whole seconds, 1 at least, after which a line is short again in which a newcomer would wait so many milliseconds. */
export function retryAfter(waitMs: number): number {
    return Math.max(1, Math.ceil(waitMs / 1000));
}

/** OVERLOADED, for a fetch that would wait so many milliseconds for its turn. */
export function overloaded(waitMs: number): Refusal {
    return new Refusal('OVERLOADED', undefined, { retryAfter: retryAfter(waitMs) });
}
