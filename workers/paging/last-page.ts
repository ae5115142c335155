import type { Endpoint } from '../../shared/domain/types.ts';

/** What is known of a walk after a page. */
interface Walked {
    /** Results of the walk so far, without repeats. */
    delivered: number;
    /** Results of its first page, and of this one. */
    first: number;
    here: number;
    /** What the site says in this page: the number of all results, and that no page follows. */
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
