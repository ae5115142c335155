import type { JobBounds } from '../../domain/jobs/bounds.ts';
import { ago, type Db } from '../../platform/db.ts';
import type { OrderedCall } from './orders.ts';

/** A validated item of a batch. */
export interface NewItem extends OrderedCall {
    customId: string | null;
}

/** The common fields of a batch's items. */
interface OfAll {
    batchId: string;
    workspaceId: string;
    keyId: string;
    accountId: string;
    sessionId: string | null;
}

/**
 * Maximum number of items and bytes of params of one account that a process keeps in memory. The bodies of the account that are arriving
 * share them, since a body may take ten minutes. A body that went beyond keeps one statement of items: 60,000 lines then take 20 to 40 MB
 * less, since garbage that becomes old is collected late.
 */
const MAX_HELD = { items: 10_000, bytes: 8 * 1024 * 1024 };
/** Maximum number of items in one statement. */
const OF_STATEMENT = 500;
/** A statement with so many bytes may have fewer items. */
const STATEMENT_BYTES = 256 * 1024;
/** Older drafts belong to dead processes, because a body must arrive within ten minutes. */
const ABANDONED = '30 minutes';

/** Items of a batch whose body is still arriving. Close it to delete them. */
export interface Drafts {
    add(item: NewItem): Promise<void>;
    /**
     * Call it after the last item and before the transaction of the order. That transaction locks the account's row, so it should have few
     * statements.
     */
    end(): Promise<void>;
    /** Stores all items in order as jobs of the batch. The row of the batch must exist. */
    store(trx: Db): Promise<void>;
    close(): Promise<void>;
}

/** What a process keeps in memory, by account. */
const heldOf = new Map<string, JobBounds>();

function countHeld(accountId: string, { items, bytes }: JobBounds): JobBounds {
    const before = heldOf.get(accountId) ?? { items: 0, bytes: 0 };
    const now = { items: before.items + items, bytes: before.bytes + bytes };
    if (now.items === 0) heldOf.delete(accountId);
    else heldOf.set(accountId, now);
    return now;
}

/**
 * Keeps the first items in memory and writes the rest to the database.
 * @param mayKeep called with the number of items and bytes before they are stored, and at the end for all that were not; it throws to
 * refuse them
 */
export function openDrafts(db: Db, all: OfAll, mayKeep: (more: JobBounds) => Promise<void>): Drafts {
    const { batchId, accountId } = all;
    let held: NewItem[] = [];
    let bytes = 0;
    let spilled = 0;
    const letGo = () => {
        countHeld(accountId, { items: -held.length, bytes: -bytes });
        held = [];
        bytes = 0;
    };
    const spill = async () => {
        await mayKeep({ items: held.length, bytes });
        for (let from = 0; from < held.length; from += OF_STATEMENT) {
            await db.raw(
                `insert into batch_drafts (batch_id, place, item, request) select :batchId, :before + d.place, d.item, d.request from ${SENT}`,
                { batchId, before: spilled + from, ...toSend(held.slice(from, from + OF_STATEMENT)) },
            );
        }
        spilled += held.length;
        letGo();
    };
    return {
        async add(item) {
            held.push(item);
            bytes += item.request.length;
            const ofAccount = countHeld(accountId, { items: 1, bytes: item.request.length });
            const isTooMuch = spilled > 0 || ofAccount.items > MAX_HELD.items || ofAccount.bytes > MAX_HELD.bytes;
            if (isTooMuch && (held.length % OF_STATEMENT === 0 || bytes >= STATEMENT_BYTES)) await spill();
        },
        async end() {
            if (spilled > 0 || held.length > OF_STATEMENT) await spill();
            else await mayKeep({ items: held.length, bytes });
        },
        async store(trx) {
            if (spilled > 0) {
                await trx.raw(`${insertFrom('(select item, request, place from batch_drafts where batch_id = :batchId) d')}`, { ...all });
                return;
            }
            await trx.raw(insertFrom(SENT), { ...all, ...toSend(held) });
        },
        async close() {
            letGo();
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
