import type { Endpoint } from '../../shared/domain/types.ts';

/** The state of a walk after a page. */
interface Walked {
    /** Results of the walk so far, without repeats. */
    delivered: number;
    /** Results of its first page, and of this one. */
    first: number;
    here: number;
    /** The number of all results, by this page. */
    total: number | undefined;
    isLast: boolean | undefined;
}

/**
 * Whether `pagination.end` says that no page follows. A walk that begins in the middle of a list delivers less than the total, and ends as
 * without it.
 */
export function isLastPage({ pagination }: Endpoint, { delivered, first, here, total, isLast }: Walked): boolean {
    if (isLast === true || (total !== undefined && delivered >= total)) return true;
    return pagination?.end.isShort === true && here < first;
}
