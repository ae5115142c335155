import { ago, type Db } from '../../platform/db.ts';

export async function wasHandled(db: Db, eventId: string): Promise<boolean> {
    return (await db('stripe_events').where({ id: eventId }).first('id')) !== undefined;
}

/** Records that an event was handled, so that repetitions are ignored. */
export async function rememberHandled(db: Db, event: { id: string; type: string }): Promise<void> {
    await db('stripe_events').insert({ id: event.id, type: event.type }).onConflict().ignore();
}

/** Stripe repeats an event for three days. A signature is valid for five minutes. */
const KEPT = '30 days';

/** Deletes events that Stripe no longer repeats. */
export async function forgetEvents(db: Db): Promise<void> {
    await db('stripe_events').where('handled_at', '<', ago(db, KEPT)).delete();
}
