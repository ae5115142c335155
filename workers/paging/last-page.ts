import type { Endpoint } from '../../shared/domain/types.ts';

interface Walked {
    /** Results of the walk so far, without repeats. */
    delivered: number;
    /** The number of results on the first page, and on this page. */
    first: number;
    here: number;
    /** The total number of results, as stated on this page. */
    total: number | undefined;
    isLast: boolean | undefined;
}

/** Whether `pagination.end` says that no page follows. A walk from the middle of a list never reaches the total. */
export function isLastPage({ pagination }: Endpoint, { delivered, first, here, total, isLast }: Walked): boolean {
    if (isLast === true || (total !== undefined && delivered >= total)) return true;
    return pagination?.end.isShort === true && here < first;
}
