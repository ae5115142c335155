import type { Lease } from '../coordination/limits/limits.ts';
import { sharesSlotsOfFree } from '../domain/accounts/plans.ts';
import { LEASE_GRACE_MS } from './deadlines.ts';
import type { Found } from './find-endpoint.ts';
import type { FetchOrder } from './order.ts';

/** The lease of a live fetch. @param found undefined if the call names nothing that exists: then no share of a site applies */
export function leaseOf({ operation, caller, times }: FetchOrder, found: Found | undefined): Lease {
    return {
        operation,
        account: caller.accountId,
        concurrency: caller.figures.concurrency,
        isFree: sharesSlotsOfFree(caller),
        expiresAt: times.deadlineAt + LEASE_GRACE_MS,
        site: found?.registrable,
        share: found?.siteConcurrency ?? undefined,
    };
}
