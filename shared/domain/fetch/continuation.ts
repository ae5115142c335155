import { parseExact } from '../json/exact-numbers.ts';
import type { Json } from '../types.ts';
import type { PagePlace } from './pages.ts';

/** The position from which another call continues a walk over pages. */
export interface Continuation {
    place: PagePlace;
    /** Number of items of that page that have already been returned. */
    skip: number;
    /** Number of items that the walk has returned so far. */
    delivered: number;
    /** Number of items on the first page of the walk. */
    first?: number | undefined;
    /** Fingerprint of the previous page. */
    before?: string | undefined;
}

/** Serializes as JSON, which keeps the digits of page numbers across processes. */
export function writeContinuation({ place, ...rest }: Continuation): string {
    return JSON.stringify({ ...rest, ...place });
}

export function readContinuation(text: string): Continuation {
    type Flat = Omit<Continuation, 'place'> & { url?: string; value?: Json };
    const { skip, delivered, first, before, url, value } = parseExact<Flat>(text);
    return { place: url === undefined ? { value } : { url }, skip, delivered, first, before };
}
