import type { JobBounds } from '../../domain/jobs/bounds.ts';
import { ago, type Db } from '../../platform/db.ts';
import type { NewJob, OrderedCall } from './orders.ts';

/** A validated item of a batch. */
export interface NewItem extends OrderedCall {
    customId: string | null;
}

/** The common fields of a batch's items. */
type CommonFields = Pick<NewJob, 'workspaceId' | 'keyId' | 'accountId' | 'sessionId'> & { batchId: string };

/** Maximum number of items in one statement. A body that is arriving, which may take ten minutes, keeps no more in memory. */
const STATEMENT_ITEMS = 500;
/** Items with so many bytes are also written at once. */
const STATEMENT_BYTES = 256 * 1024;
/** Older drafts belong to dead processes, because a body must arrive within ten minutes. */
const ABANDONED = '30 minutes';

/**
 * Opens the items of a batch whose body is still arriving. Keeps one statement of items in memory and writes each full one to the database.
 * Close it to delete them.
 * @param mayKeep called with the number of items and bytes before they are stored, and at the end for all that were not; it throws to
 * refuse them
 */
export function openDrafts(db: Db, all: CommonFields, mayKeep: (more: JobBounds) => Promise<void>) {
    const { batchId } = all;
    let held: NewItem[] = [];
    let bytes = 0;
    let spilled = 0;
    const spill = async () => {
        await mayKeep({ items: held.length, bytes });
        await db.raw(
            `insert into batch_drafts (batch_id, place, item, request) select :batchId, :spilled + d.place, d.item, d.request from ${SENT}`,
            { batchId, spilled, ...toSend(held) },
        );
        spilled += held.length;
        held = [];
        bytes = 0;
    };
    return {
        async add(item: NewItem): Promise<void> {
            held.push(item);
            bytes += item.request.length;
            if (held.length === STATEMENT_ITEMS || bytes >= STATEMENT_BYTES) await spill();
        },
        /** Call it before the transaction of the order, which locks the account and so should have few statements. */
        async end(): Promise<void> {
            if (spilled === 0) await mayKeep({ items: held.length, bytes });
            else if (held.length > 0) await spill();
        },
        /** Stores all items in order as jobs of the batch. The row of the batch must exist. */
        async store(trx: Db): Promise<void> {
            if (spilled > 0) {
                await trx.raw(insertFrom('(select item, request, place from batch_drafts where batch_id = :batchId) d'), { ...all });
            } else {
                await trx.raw(insertFrom(SENT), { ...all, ...toSend(held) });
            }
        },
        async close(): Promise<void> {
            if (spilled > 0) await db('batch_drafts').where({ batch_id: batchId }).delete();
        },
    };
}

/** Raw: whether there are drafts of processes that died. */
export const DRAFTS_ARE_OLD = `select true from batch_drafts where created_at < app_now() - interval '${ABANDONED}' order by created_at limit 1`;

/** Deletes drafts of processes that died. */
export async function sweepDrafts(db: Db): Promise<void> {
    await db('batch_drafts').where('created_at', '<', ago(db, ABANDONED)).delete();
}

/** Raw: items that the statement brings along, as drafts. A value for each column would take the API a quarter longer. */
const SENT =
    'rows from (jsonb_array_elements(cast(:items as jsonb)), unnest(cast(:requests as bytea[]))) with ordinality as d (item, request, place)';

function toSend(items: readonly NewItem[]): { items: string; requests: Buffer[] } {
    return { items: JSON.stringify(items.map(({ request: _, ...item }) => item)), requests: items.map(({ request }) => request) };
}

/** Raw: creates jobs from drafts with `item`, `request` and `place`. */
function insertFrom(drafts: string): string {
    return `
        insert into jobs (job_id, workspace_id, key_id, account_id, batch_id, custom_id, site, registrable, endpoint, version_id, version, effect,
                          needs, metadata, session_id, connection_id, owner_id, request, unit, units_cap, units, max_credits, due_at,
                          expires_at)
        select i."jobId", :workspaceId, :keyId, :accountId, b.batch_id, i."customId", i.site, i.registrable, i.endpoint, i."versionId", i.version,
               i.effect, i.needs, '{}', :sessionId, i."connectionId", i."ownerId", d.request, i.unit, i."unitsCap", i.units, i."maxCredits",
               b.created_at, b.expires_at
        from ${drafts}
        cross join lateral jsonb_to_record(d.item) as i (
            "jobId" text, "customId" text, site text, registrable text, endpoint text, "versionId" bigint, version integer, effect text,
            needs text, "connectionId" text, "ownerId" text, unit integer, "unitsCap" integer, units integer,
            "maxCredits" bigint)
        join batches b on b.batch_id = :batchId
        order by d.place`;
}
