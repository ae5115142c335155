import type { Db } from '../../platform/db.ts';

/** Whether an event was handled completely. */
export async function wasHandled(db: Db, eventId: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>('select from stripe_events where id = ?', [eventId]);
    return rows.length > 0;
}

/** Records that an event was handled, so that a repeat is ignored. */
export async function rememberHandled(db: Db, event: { id: string; type: string }): Promise<void> {
    await db.raw('insert into stripe_events (id, type) values (?, ?) on conflict do nothing', [event.id, event.type]);
}

/** Stripe repeats an event for three days; a signature holds for five minutes. */
const KEPT_DAYS = 30;

/** Deletes events that Stripe no longer repeats. */
export async function forgetEvents(db: Db): Promise<void> {
    await db.raw("delete from stripe_events where handled_at < app_now() - ? * interval '1 day'", [KEPT_DAYS]);
}
