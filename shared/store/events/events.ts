import type { EventType, TEST_EVENT } from '../../domain/events/event-types.ts';
import { newId } from '../../domain/text/ids.ts';
import type { JsonObject } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';

/** Who receives an event: a workspace, all workspaces that an account pays for, or all that maintain a site or fetched it. */
export type Audience = { workspaceId: string } | { accountId: string } | { site: string };

/** An event for everybody in its audience. */
export type NewEvent = Audience & {
    type: EventType;
    /** Its content, at most a few KiB; no secret and no result of a fetch. */
    data: JsonObject;
    /** Id of what is read when a body is built, for what may be large or deleted meanwhile (event-bodies.ts). */
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

/**
 * Records an event. Call it in the transaction of the change: then no event is lost, and none describes what did not happen. A worker
 * delivers it after the commit.
 */
export async function recordEvent(trx: Db, event: NewEvent): Promise<void> {
    await insertEvents(trx, [event]);
}

/** Records many events in one statement. */
export async function recordEvents(trx: Db, events: readonly NewEvent[]): Promise<void> {
    if (events.length > 0) await insertEvents(trx, events);
}

/** Records an event for one webhook alone. @returns its id */
export async function recordTestEvent(trx: Db, { webhookId, data }: { webhookId: string; data: JsonObject }): Promise<string> {
    const [id] = await insertEvents(trx, [{ type: 'webhook.test', webhookId, data }]);
    return id as string;
}

async function insertEvents(trx: Db, events: readonly EventRow[]): Promise<string[]> {
    const rows = events.map(({ type, workspaceId = null, accountId = null, site = null, webhookId = null, data, about = null }) => ({
        id: newId('evt'),
        type,
        workspace_id: workspaceId,
        account_id: accountId,
        site,
        webhook_id: webhookId,
        data: JSON.stringify(data),
        about,
    }));
    await trx('events').insert(rows);
    return rows.map(({ id }) => id);
}
