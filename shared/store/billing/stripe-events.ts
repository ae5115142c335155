import type { Db } from '../../platform/db.ts';

export async function wasHandled(db: Db, eventId: string): Promise<boolean> {
    return (await db('stripe_events').where({ id: eventId }).first('id')) !== undefined;
}

/** Records that an event was handled, so that repetitions are ignored. */
export async function rememberHandled(db: Db, event: { id: string; type: string }): Promise<void> {
    await db('stripe_events').insert({ id: event.id, type: event.type }).onConflict().ignore();
}
