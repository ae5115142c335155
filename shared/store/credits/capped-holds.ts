import type { Db } from '../../platform/db.ts';
import { persist } from '../../platform/pg-errors.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { findHolds, type HoldOrder, type HoldRow, type HoldVerdict, holdVerdict, type ReachedCap } from './holds.ts';

interface CappedRow extends HoldRow {
    limited_by: ReachedCap['of'] | null;
    cap: number;
    spent: number;
    resets_at: Date;
}

const HOLD: PreparedQuery = {
    name: 'credits_hold_capped',
    text: `select operation, amount, units, available, is_stale, limited_by, cap, spent, resets_at
        from credits_hold_capped($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
};

/** Holds for one order of an account or key that has a cap: both are looked at and moved in one statement (migrations/0081). */
export async function holdCapped(db: Db, order: HoldOrder, limits: { patienceMs: number; timeoutMs: number }): Promise<HoldVerdict> {
    return persist(limits.patienceMs, async (mayBeDone) => {
        const [found] = mayBeDone ? await findHolds(db, [order], limits.timeoutMs) : [];
        if (found !== undefined) return holdVerdict(found);
        const [row] = await runPrepared<CappedRow>(db, HOLD, columns(order), limits.timeoutMs);
        if (row === undefined || row.limited_by === null) return holdVerdict(row);
        const { limited_by: of, cap, spent, resets_at: resetsAt } = row;
        return { ok: false, available: row.available, reached: { of, cap, spent, resetsAt } };
    });
}

function columns(order: HoldOrder): unknown[] {
    return [
        order.operation,
        order.accountId,
        order.userId,
        order.workspaceId,
        order.keyId,
        order.site,
        order.endpoint,
        order.versionId,
        order.effect,
        order.unit,
        order.maxUnits,
        Math.ceil(order.expiresInMs),
        order.siteState?.registrable ?? null,
        order.siteState?.revision ?? null,
    ];
}
