import type { Select } from '../../shared/domain/types.ts';
import { isInlineSelect } from './inline.ts';
import { MAX_OUTPUT } from './measure.ts';

/** Growth of a value when it is serialized again: `1e20` becomes 21 digits, a control character six letters. */
const GROWTH = 6;

/** Bytes of a missing field: quotes, colon, comma and `null`. */
const ABSENT_FIELD = 8;

/** Bytes of the shortest list item, with its comma. */
const SHORTEST = 2;

/**
 * The largest possible size of the data selected from a body, before it is read.
 * @param bytes size of the body
 */
export function mostSelected(bytes: number, select: Select | undefined): number {
    if (select === undefined) return Math.min(MAX_OUTPUT, GROWTH * bytes);
    // Functions, filters and pipes may select the same value many times.
    if (!isInlineSelect(select)) return MAX_OUTPUT;
    const text = typeof select === 'string' ? select : Object.entries(select).join();
    const fields = text.split(':').length + (typeof select === 'string' ? 0 : Object.keys(select).length);
    // Each field may select the whole page, and each item repeats all field names.
    return Math.min(MAX_OUTPUT, bytes * (GROWTH * fields + (text.length + ABSENT_FIELD * fields) / SHORTEST));
}
