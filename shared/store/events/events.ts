import type { EventType, TEST_EVENT } from '../../domain/events/event-types.ts';
import { newTimedId } from '../../domain/text/ids.ts';
import type { JsonObject } from '../../domain/types.ts';
import { type Db, toColumns } from '../../platform/db.ts';

/** Who receives an event: a workspace, all workspaces of an account, or all workspaces that maintain a site or fetched it. */
type Audience = { workspaceId: string } | { accountId: string } | { site: string };

export type NewEvent = Audience & {
    type: EventType;
    /** Its content, at most a few KiB, without secrets and results of fetches. */
    data: JsonObject;
    /** Id of an object that is read when the body is built, since it may be large or deleted meanwhile (send-delivery.ts). */
    about?: string | undefined;
};

interface EventRow {
    type: EventType | typeof TEST_EVENT;
    workspaceId?: string;
    accountId?: string;
    site?: string;
    webhookId?: string;
    data: JsonObject;
    about?: string | undefined;
}

/** Call it in the transaction of the change, so that both are committed together. A worker then delivers the event. */
export async function recordEvent(trx: Db, event: NewEvent): Promise<void> {
    await insertEvents(trx, [event]);
}

export async function recordEvents(trx: Db, events: readonly NewEvent[]): Promise<void> {
    if (events.length > 0) await insertEvents(trx, events);
}

export async function recordTestEvent(trx: Db, { webhookId, data }: { webhookId: string; data: JsonObject }): Promise<string> {
    const [id] = await insertEvents(trx, [{ type: 'webhook.test', webhookId, data }]);
    return id as string;
}

async function insertEvents(trx: Db, events: readonly EventRow[]): Promise<string[]> {
    const rows = events.map((event) => ({ ...toColumns(event), id: newTimedId('evt', Date.now()), data: JSON.stringify(event.data) }));
    await trx('events').insert(rows);
    return rows.map(({ id }) => id);
}
