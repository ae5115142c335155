import type { Db } from '../../platform/db.ts';
import { persist } from '../../platform/pg-errors.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { Bonuses } from './bonuses.ts';

export type HoldState = 'held' | 'sent' | 'charged' | 'released';

/** How an open hold ends: with the exact cost, or, with `null`, for nothing. */
export interface Settlement {
    operation: string;
    charge: number | null;
    /** An earlier try may have been committed. */
    mayBeDone?: boolean;
}

export interface Settled {
    /** Whether this call ended the hold; otherwise it had ended before and is as it was. */
    won: boolean;
    /** How the hold stands now; `unknown`: there never was one. */
    state: HoldState | 'unknown';
    /** Whether a worker marked the hold as sent, even where another call ended it. */
    marked: boolean;
    /** Credits charged. */
    charged: number;
    /** Credits that this operation earned as its user's first one, in `available` already. */
    firstFetchBonus: number;
    /** What the account can spend now. */
    available: number;
}

export interface SettledRow extends Omit<Settled, 'firstFetchBonus'> {
    operation: string;
    first_fetch: number;
}

const SETTLE: PreparedQuery = {
    name: 'credits_settle',
    text: 'select operation, won, state, marked, charged, first_fetch, available from credits_settle($1, $2, $3, $4, $5)',
};

const UNKNOWN: Settled = { won: false, state: 'unknown', marked: false, charged: 0, firstFetchBonus: 0, available: 0 };

/** Ends all these holds in one statement; a verdict for each, in their order. */
export async function settleAll(
    db: Db,
    settlements: readonly Settlement[],
    bonuses: Bonuses,
    limits: { patienceMs: number; timeoutMs: number },
): Promise<Settled[]> {
    const sorted = settlements.toSorted((one, other) => (one.operation < other.operation ? -1 : 1));
    const bindings = [
        sorted.map((settlement) => settlement.operation),
        sorted.map((settlement) => settlement.charge),
        bonuses.firstFetch,
        bonuses.referral,
        bonuses.referralsAMonth,
    ];
    return persist(limits.patienceMs, async (mayBeDone) => {
        const rows = await runPrepared<SettledRow>(db, SETTLE, bindings, limits.timeoutMs);
        const byOperation = new Map(rows.map((row) => [row.operation, row]));
        return settlements.map((settlement) => settledVerdict(settlement, byOperation.get(settlement.operation), mayBeDone));
    });
}

/** After a lost answer, a hold that ended the way we wanted is our own work: nobody else charges or gives up this operation. */
export function settledVerdict(settlement: Settlement, row: Omit<SettledRow, 'operation'> | undefined, mayBeDone: boolean): Settled {
    if (row === undefined) return UNKNOWN;
    const { won, state, marked, charged, available } = row;
    const isOurs = (mayBeDone || settlement.mayBeDone === true) && state === (settlement.charge === null ? 'released' : 'charged');
    return { won: won || isOurs, state, marked, charged, firstFetchBonus: row.first_fetch, available };
}
