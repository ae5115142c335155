import { parseExact } from '../json/exact-numbers.ts';
import type { Json } from '../types.ts';
import type { PagePlace } from './pages.ts';

/** Where a walk over pages goes on in another call. */
export interface Continuation {
    /** The page to get first. */
    place: PagePlace;
    /** How many items of that page were answered already. */
    skip: number;
    /** Items that the walk answered so far. */
    delivered: number;
    /** How many items the first page of the walk had. */
    first?: number | undefined;
    /** Fingerprint of the page before. */
    before?: string | undefined;
}

/** As JSON, which keeps the digits of a page's number across processes. */
export function writeContinuation({ place, ...rest }: Continuation): string {
    return JSON.stringify({ ...rest, ...place });
}

/** @param text as `writeContinuation` made it */
export function readContinuation(text: string): Continuation {
    const { skip, delivered, first, before, url, value } = parseExact(text) as unknown as Omit<Continuation, 'place'> & {
        url?: string;
        value?: Json;
    };
    return { place: url === undefined ? { value } : { url }, skip, delivered, first, before };
}
