import type { Effect } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';

/** A cap that an account set itself, and that leaves no unit for a call today. */
export interface ReachedCap {
    of: 'account' | 'key';
    /** Credits a day. */
    cap: number;
    /** Spent today, or held by calls in flight. */
    spent: number;
    /** Midnight, UTC. */
    resetsAt: Date;
}

/** The highest cost of a call, and the account that pays. */
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
    /** The hold is released after this time: the time to the deadline plus a grace period. */
    expiresInMs: number;
    /** What the caller believes of the site, from memory: where that has changed, nothing is held. */
    siteState?: { registrable: string; revision: string } | undefined;
    /** The account or the key has a cap on what it spends a day, which is looked at in the same statement. */
    isCapped?: boolean;
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
    | {
          ok: false;
          available: number;
          isStale?: boolean;
          /** There are credits, and a cap that leaves none of them for this call. */
          reached?: ReachedCap;
      };

export interface HoldRow {
    operation: string;
    amount: number;
    units: number;
    available: number;
    is_stale?: boolean;
}

const FIND: PreparedQuery = {
    name: 'credits_find_holds',
    text: `select h.operation, h.amount, h.units, c.allowance_available + c.bonus_available as available
        from holds h join credit_accounts c on c.id = h.account_id where h.operation = any ($1::text[])`,
};

/** Those of these orders that are held already. */
export function findHolds(db: Db, orders: readonly HoldOrder[], timeoutMs: number): Promise<HoldRow[]> {
    return runPrepared<HoldRow>(db, FIND, [orders.map((order) => order.operation)], timeoutMs);
}

/** An account that is not there has nothing available. */
export function holdVerdict(row: HoldRow | undefined): HoldVerdict {
    if (row === undefined) throw new Error('credits_move left an order without a verdict');
    if (row.is_stale === true) return { ok: false, available: row.available, isStale: true };
    if (row.units === 0) return { ok: false, available: row.available };
    return { ok: true, operation: row.operation, amount: row.amount, units: row.units, availableAfter: row.available };
}
