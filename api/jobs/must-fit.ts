import type { App } from '../../shared/app.ts';
import { OPEN_BOUNDS, OPEN_RETRY, type OpenBounds } from '../../shared/domain/jobs/bounds.ts';
import type { Db } from '../../shared/platform/db.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { readOpen } from '../../shared/store/jobs/orders.ts';
import { perApp } from '../admission/per-app.ts';

const NONE: OpenBounds = { items: 0, bytes: 0 };

/**
 * Checks that the account's open jobs, including those of this transaction, are within its plan.
 * @param more jobs that are not stored yet
 * @throws Refusal RATE_LIMITED
 */
export async function mustFit(db: Db, { plan, accountId }: Caller, more = NONE): Promise<void> {
    const open = await readOpen(db, accountId);
    const most = OPEN_BOUNDS[plan];
    if (open.items + more.items <= most.items && open.bytes + more.bytes <= most.bytes) return;
    const bounds = `${most.items.toLocaleString('en')} open jobs with ${Math.round(most.bytes / 1024 / 1024).toLocaleString('en')} MiB of params`;
    throw new Refusal('RATE_LIMITED', `The window open_items is full: ${bounds} an account on ${plan}.`, { retryAfter: OPEN_RETRY });
}

/** By account, the drafts of its bodies that still arrive. */
const draftsOf = perApp(() => new Map<string, OpenBounds>());

/** The room that a body takes of the account's plan while it arrives. */
interface DraftRoom {
    /** Call it before so many more drafts are stored. @throws Refusal RATE_LIMITED */
    take(more: OpenBounds): Promise<void>;
    leave(): void;
}

/** Bodies of one account that arrive at once share its room: the database keeps their drafts beside its open jobs. */
export function openDraftRoom(app: App, caller: Caller): DraftRoom {
    const drafts = draftsOf(app);
    const { accountId } = caller;
    let own = NONE;
    const add = ({ items, bytes }: OpenBounds): OpenBounds => {
        const { items: before, bytes: bytesBefore } = drafts.get(accountId) ?? NONE;
        const now = { items: before + items, bytes: bytesBefore + bytes };
        if (now.items === 0) drafts.delete(accountId);
        else drafts.set(accountId, now);
        return now;
    };
    return {
        async take(more) {
            own = { items: own.items + more.items, bytes: own.bytes + more.bytes };
            await mustFit(app.db, caller, add(more));
        },
        leave() {
            add({ items: -own.items, bytes: -own.bytes });
            own = NONE;
        },
    };
}
