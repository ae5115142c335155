import type { App } from '../../shared/app.ts';
import { type JobBounds, OPEN_BOUNDS, OPEN_RETRY, ORDER_BOUNDS } from '../../shared/domain/jobs/bounds.ts';
import type { Db } from '../../shared/platform/db.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { countOrdered, readOpen } from '../../shared/store/jobs/orders.ts';
import { perApp } from '../admission/per-app.ts';

const NONE: JobBounds = { items: 0, bytes: 0 };

/**
 * Checks that the account's open jobs, including those of this transaction, are within its plan.
 * @param more jobs that are not stored yet
 * @throws Refusal RATE_LIMITED
 */
export async function mustFit(db: Db, { plan, accountId }: Caller, more = NONE): Promise<void> {
    const open = await readOpen(db, accountId);
    const max = OPEN_BOUNDS[plan];
    if (open.items + more.items <= max.items && open.bytes + more.bytes <= max.bytes) return;
    throw new Refusal('RATE_LIMITED', `The window open_items is full: an account on ${plan} may have ${inWords(max, 'open jobs')}.`, {
        retryAfter: OPEN_RETRY,
    });
}

/**
 * Counts jobs that the transaction has stored, and checks that all jobs which the account created today are within its plan.
 * @throws Refusal RATE_LIMITED
 */
export async function mustFitToday(trx: Db, { plan, accountId }: Caller, ordered: JobBounds): Promise<void> {
    const today = await countOrdered(trx, accountId, ordered);
    const max = ORDER_BOUNDS[plan];
    if (today.items <= max.items && today.bytes <= max.bytes) return;
    throw new Refusal('RATE_LIMITED', `The window ordered_items is full: an account on ${plan} may create ${inWords(max, 'jobs')} a day.`, {
        retryAfter: today.secondsLeft,
    });
}

function inWords({ items, bytes }: JobBounds, what: string): string {
    return `${items.toLocaleString('en')} ${what} with ${Math.round(bytes / 1024 / 1024).toLocaleString('en')} MiB of params`;
}

/** By account, the size of the drafts of bodies that are still arriving. */
const draftsOf = perApp(() => new Map<string, JobBounds>());

/** Opens a reservation for one body. Bodies that are arriving share the limit with open jobs, since their drafts are stored too. */
export function openDraftRoom(app: App, caller: Caller) {
    const drafts = draftsOf(app);
    const { accountId } = caller;
    let own = NONE;
    const add = ({ items, bytes }: JobBounds): JobBounds => {
        const { items: before, bytes: bytesBefore } = drafts.get(accountId) ?? NONE;
        const now = { items: before + items, bytes: bytesBefore + bytes };
        if (now.items === 0) drafts.delete(accountId);
        else drafts.set(accountId, now);
        return now;
    };
    return {
        /** Reserves room for more drafts. Call it before they are stored. @throws Refusal RATE_LIMITED */
        async take(more: JobBounds): Promise<void> {
            own = { items: own.items + more.items, bytes: own.bytes + more.bytes };
            await mustFit(app.db, caller, add(more));
        },
        /** Everything that was reserved so far. */
        get taken(): JobBounds {
            return own;
        },
        leave() {
            add({ items: -own.items, bytes: -own.bytes });
            own = NONE;
        },
    };
}
