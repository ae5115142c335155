import type { Db } from '../../platform/db.ts';
import { isOutage, persist } from '../../platform/pg-errors.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { Bonuses } from './bonuses.ts';
import { findHolds, type HoldOrder, type HoldRow, type HoldVerdict, holdVerdict } from './holds.ts';
import { type Settled, type SettledRow, type Settlement, settledVerdict } from './settlements.ts';
import { holdOne, settleOne } from './single-moves.ts';

/** What calls do to money, in one batch: some begin, some end. */
export type Move = { hold: HoldOrder } | { settle: Settlement };

/** A verdict; or, where the database was away, why a hold was not made, or that a settlement is to be tried longer. */
export type Moved = { held: HoldVerdict } | { settled: Settled } | { failed: unknown } | { unsettled: Settlement };

interface MovedRow extends HoldRow, Omit<SettledRow, 'operation' | 'available'> {
    is_hold: boolean;
}

const MOVE: PreparedQuery = {
    name: 'credits_move',
    text: `select operation, is_hold, won, state, marked, charged, first_fetch, available, is_stale, amount, units
        from credits_move($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
};

/** Holds and settlements of a batch in one statement and one commit (migrations/0030, 0097); a verdict for each, in their order. */
export async function moveAll(
    db: Db,
    moves: readonly Move[],
    bonuses: Bonuses,
    limits: { patienceMs: number; timeoutMs: number },
): Promise<Moved[]> {
    // Byte order, as `collate "C"` has it: the function takes each account's orders together, and locks holds in this order.
    const orders = moves.flatMap((move) => ('hold' in move ? [move.hold] : [])).toSorted((a, b) => compare(a.accountId, b.accountId));
    const settlements = moves
        .flatMap((move) => ('settle' in move ? [move.settle] : []))
        .toSorted((a, b) => compare(a.operation, b.operation));
    try {
        return await persist(limits.patienceMs, async (mayBeDone) => {
            const found = mayBeDone && orders.length > 0 ? await findHolds(db, orders, limits.timeoutMs) : [];
            const done = new Set(found.map((row) => row.operation));
            const open = orders.filter((order) => !done.has(order.operation));
            const rows = await send(db, settlements, open, bonuses, limits.timeoutMs);
            const held = new Map([...found, ...rows.holds].map((row) => [row.operation, row]));
            const settled = new Map(rows.settlements.map((row) => [row.operation, row]));
            return moves.map((move) =>
                'hold' in move
                    ? { held: holdVerdict(held.get(move.hold.operation)) }
                    : { settled: settledVerdict(move.settle, settled.get(move.settle.operation), mayBeDone) },
            );
        });
    } catch (error) {
        if (!isOutage(error)) throw error;
        // The last try may have been committed, and only its answer is missing.
        return moves.map((move) => ('hold' in move ? { failed: error } : { unsettled: { ...move.settle, mayBeDone: true } }));
    }
}

async function send(
    db: Db,
    settlements: readonly Settlement[],
    orders: readonly HoldOrder[],
    bonuses: Bonuses,
    timeoutMs: number,
): Promise<{ holds: HoldRow[]; settlements: SettledRow[] }> {
    const [order, settlement] = [orders[0], settlements[0]];
    if (orders.length + settlements.length === 1) {
        const held = order === undefined ? undefined : await holdOne(db, order, timeoutMs);
        const settled = settlement === undefined ? undefined : await settleOne(db, settlement, bonuses, timeoutMs);
        return { holds: held === undefined ? [] : [held], settlements: settled === undefined ? [] : [settled] };
    }
    const rows = await runPrepared<MovedRow>(db, MOVE, columns(settlements, orders, bonuses), timeoutMs);
    return { holds: rows.filter((row) => row.is_hold), settlements: rows.filter((row) => !row.is_hold) };
}

function compare(one: string, other: string): number {
    return one < other ? -1 : one > other ? 1 : 0;
}

function columns(settlements: readonly Settlement[], orders: readonly HoldOrder[], bonuses: Bonuses): unknown[] {
    const checks = new Map<string, { place: number; order: HoldOrder; revision: string; registrable: string }>();
    const checkOf = (order: HoldOrder): number => {
        if (order.siteState === undefined) return 0;
        const { revision, registrable } = order.siteState;
        const key = `${order.site} ${order.versionId} ${revision}`;
        const check = checks.get(key) ?? { place: checks.size + 1, order, revision, registrable };
        checks.set(key, check);
        return check.place;
    };
    const places = orders.map(checkOf);
    const checked = [...checks.values()];
    return [
        settlements.map((settlement) => settlement.operation),
        settlements.map((settlement) => settlement.charge),
        bonuses.firstFetch,
        bonuses.referral,
        bonuses.referralsAMonth,
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
        places,
        checked.map(({ order }) => order.site),
        checked.map(({ registrable }) => registrable),
        checked.map(({ order }) => order.versionId),
        checked.map(({ revision }) => revision),
    ];
}
