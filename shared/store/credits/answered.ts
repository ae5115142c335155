import type { Db } from '../../platform/db.ts';
import { persist } from '../../platform/pg-errors.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { KeyedCall } from '../fetch/idempotency.ts';
import type { Bonuses } from './bonuses.ts';
import type { Settled } from './settlements.ts';

/** The answer of a keyed call in two parts: between them stands what the account can spend after the charge. */
export interface AnswerToKeep {
    call: KeyedCall;
    head: string;
    tail: string;
    /** Both, encrypted: what is kept. */
    sealed: Buffer;
}

/** A charge and the answer that goes out with it. */
export interface AnsweredCharge {
    operation: string;
    charge: number;
    answer: AnswerToKeep;
}

export interface AnsweredSettled extends Settled {
    /** The figure in the answer, where an earlier try of ours had kept it. */
    remaining: number | null;
}

interface AnsweredRow extends Omit<AnsweredSettled, 'firstFetchBonus'> {
    operation: string;
    first_fetch: number;
}

/**
 * `stored` works on rows that were there before, and is looked at by every row of the result, so that it runs once and always.
 * A hold that we had charged before, in a try whose answer was lost, has its answer kept already.
 */
const SETTLE: PreparedQuery = {
    name: 'credits_settle_answered',
    text: `
        with given as materialized (
            select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
                as g (operation, charge, workspace, route, key, sealed)
        ), settled as materialized (
            select s.* from credits_settle($1, $2, $7, $8, $9) s
        ), stored as materialized (
            select idempotency_keep(array_agg(g.workspace), array_agg(g.route), array_agg(g.key), array_agg(g.operation),
                                    array_agg(200::smallint), array_agg(g.sealed), array_agg(s.available)) as answers
            from given g join settled s using (operation) where s.won
        )
        select s.operation, s.won, s.state, s.marked, s.charged, s.first_fetch, s.available,
               case when not s.won then (
                   select i.remaining from idempotency i
                   where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key and i.operation = g.operation
               ) end as remaining
        from settled s cross join stored join given g using (operation)`,
};

/**
 * Charges all these holds and keeps the answers of those that it charged, in one statement: a process that dies has done both
 * or neither, so that the same key never pays twice. A verdict for each, in their order.
 */
export async function settleAnswered(
    db: Db,
    charges: readonly AnsweredCharge[],
    bonuses: Bonuses,
    limits: { patienceMs: number; timeoutMs: number },
): Promise<AnsweredSettled[]> {
    const sorted = charges.toSorted((one, other) => (one.operation < other.operation ? -1 : 1));
    const bindings = [
        sorted.map(({ operation }) => operation),
        sorted.map(({ charge }) => charge),
        sorted.map(({ answer }) => answer.call.workspaceId),
        sorted.map(({ answer }) => answer.call.route),
        sorted.map(({ answer }) => answer.call.key),
        sorted.map(({ answer }) => answer.sealed.toString('base64')),
        bonuses.firstFetch,
        bonuses.referral,
        bonuses.referralsAMonth,
    ];
    return persist(limits.patienceMs, async (mayBeDone) => {
        const rows = await runPrepared<AnsweredRow>(db, SETTLE, bindings, limits.timeoutMs);
        const byOperation = new Map(rows.map((row) => [row.operation, row]));
        return charges.map(({ operation }) => verdict(byOperation.get(operation), mayBeDone));
    });
}

const UNKNOWN: AnsweredSettled = {
    won: false,
    state: 'unknown',
    marked: false,
    charged: 0,
    firstFetchBonus: 0,
    available: 0,
    remaining: null,
};

function verdict(row: AnsweredRow | undefined, mayBeDone: boolean): AnsweredSettled {
    if (row === undefined) return UNKNOWN;
    const { won, state, marked, charged, available, remaining } = row;
    return {
        won: won || (mayBeDone && state === 'charged'),
        state,
        marked,
        charged,
        firstFetchBonus: row.first_fetch,
        available,
        remaining,
    };
}
