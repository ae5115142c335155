import type { Select } from '../../shared/domain/types.ts';
import { isLightSelect } from './light.ts';
import { MAX_OUTPUT } from './measure.ts';

/** What is written anew may be so many times as long: `1e20` has 21 digits then, and a control character in a text six letters. */
const ANEW = 6;

/** Of a field that is not there: quotes, colon, comma and `null`. */
const ABSENT_FIELD = 8;

/** The shortest thing in a list, with its comma. */
const SHORTEST = 2;

/**
 * Bytes of what may be read of a body, at the most, before it is read.
 * @param bytes of the body
 */
export function mostSelected(bytes: number, select: Select | undefined): number {
    if (select === undefined) return Math.min(MAX_OUTPUT, ANEW * bytes);
    // Functions, filters and pipes may take the same value again and again.
    if (!isLightSelect(select)) return MAX_OUTPUT;
    const text = typeof select === 'string' ? select : Object.entries(select).join();
    const fields = text.split(':').length + (typeof select === 'string' ? 0 : Object.keys(select).length);
    // Each field may take all of the page, and each thing in it gets all of their names.
    return Math.min(MAX_OUTPUT, bytes * (ANEW * fields + (text.length + ABSENT_FIELD * fields) / SHORTEST));
}
