import type { Db } from '../../db.ts';
import type { Effect } from '../../domain/types.ts';
import { run, type Statement } from '../statement.ts';
import { persist } from './outages.ts';

/** What a call may cost at the most, and who pays. */
export interface HoldOrder {
    /** `op_…`, new for every call. */
    operation: string;
    /** Who pays: `usr_…` on Free, `wsp_…` on a paid plan. */
    accountId: string;
    userId: string;
    workspaceId: string;
    keyId: string;
    site: string;
    endpoint: string;
    versionId: number;
    effect: Effect;
    /** Credits of one unit, at least 1. */
    unit: number;
    /** Units wanted, at least 1; fewer are held where the balance does not reach. */
    maxUnits: number;
    /** After so long the hold is released by itself: the time to the deadline and the grace after it. */
    expiresInMs: number;
}

export type HoldVerdict =
    | {
          ok: true;
          operation: string;
          /** Credits held: `units` times the unit. */
          amount: number;
          units: number;
          availableAfter: number;
      }
    | { ok: false; available: number };

interface HoldRow {
    operation: string;
    amount: number;
    units: number;
    available: number;
}

const HOLD: Statement = {
    name: 'credits_hold',
    text: 'select operation, amount, units, available from credits_hold($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
};

const FIND: Statement = {
    name: 'credits_find_holds',
    text: `select h.operation, h.amount, h.units, c.allowance_available + c.bonus_available as available
        from holds h join credit_accounts c on c.id = h.account_id where h.operation = any ($1::text[])`,
};

/** Holds for all orders in one statement; a verdict for each, in their order. An account that is not there has nothing available. */
export async function holdAll(
    db: Db,
    orders: readonly HoldOrder[],
    limits: { patienceMs: number; timeoutMs: number },
): Promise<HoldVerdict[]> {
    // Byte order, as `collate "C"` has it: the function takes each account's orders together.
    const sorted = orders.toSorted((one, other) => (one.accountId < other.accountId ? -1 : one.accountId > other.accountId ? 1 : 0));
    const rows = await persist(limits.patienceMs, async (mayBeDone) => {
        const found = mayBeDone ? await run<HoldRow>(db, FIND, [sorted.map((order) => order.operation)], limits.timeoutMs) : [];
        const done = new Set(found.map((row) => row.operation));
        const open = sorted.filter((order) => !done.has(order.operation));
        return open.length === 0 ? found : [...found, ...(await run<HoldRow>(db, HOLD, columns(open), limits.timeoutMs))];
    });
    const byOperation = new Map(rows.map((row) => [row.operation, row]));
    return orders.map((order) => verdict(byOperation.get(order.operation)));
}

function columns(orders: readonly HoldOrder[]): (string[] | number[])[] {
    return [
        orders.map((order) => order.operation),
        orders.map((order) => order.accountId),
        orders.map((order) => order.userId),
        orders.map((order) => order.workspaceId),
        orders.map((order) => order.keyId),
        orders.map((order) => order.site),
        orders.map((order) => order.endpoint),
        orders.map((order) => order.versionId),
        orders.map((order) => order.effect),
        orders.map((order) => order.unit),
        orders.map((order) => order.maxUnits),
        orders.map((order) => Math.ceil(order.expiresInMs)),
    ];
}

function verdict(row: HoldRow | undefined): HoldVerdict {
    if (row === undefined) throw new Error('credits_hold left an order without a verdict');
    if (row.units === 0) return { ok: false, available: row.available };
    return { ok: true, operation: row.operation, amount: row.amount, units: row.units, availableAfter: row.available };
}
