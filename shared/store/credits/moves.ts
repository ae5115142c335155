import type { Effect } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { KeyedCall } from '../fetch/idempotency.ts';
import { BONUSES } from './bonuses.ts';

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
    /** Units wanted, at least 1; fewer are held where balance or cap allow no more. */
    maxUnits: number;
    /** The hold is released after this time: the time to the deadline plus a grace period. */
    expiresInMs: number;
    /** The cached state of the site. If it has changed, nothing is held. */
    siteState?: { registrable: string; revision: string } | undefined;
    /** The account or the key has a cap on what it spends a day. */
    isCapped?: boolean;
}

/** How a hold ends: by a charge of exact credits or, with null, by a release. */
export interface Settlement {
    operation: string;
    charge: number | null;
    answer?: AnswerToKeep | undefined;
    /** An earlier try may have been committed. */
    mayBeDone?: boolean;
}

/** The answer of a keyed call in two parts: between them goes what the account can spend after the charge. */
export interface AnswerToKeep {
    call: KeyedCall;
    head: string;
    tail: string;
    /** Both, encrypted, in base64: what is kept. */
    sealed: string;
}

/** A worker's `held → sent`; `by` is new for every mark. */
export interface Mark {
    operation: string;
    by: string;
}

export interface Moves {
    orders: readonly HoldOrder[];
    settlements: readonly Settlement[];
    marks: readonly Mark[];
}

export type HoldState = 'held' | 'sent' | 'charged' | 'released';

/** A hold after it began, ended or was marked; `won` is false if that was refused, or another call was first. */
export interface MovedRow {
    operation: string;
    won: boolean;
    state: HoldState;
    /** Whether a worker marked it as sent, even where another call ended it. */
    marked: boolean;
    charged: number;
    first_fetch: number;
    available: number;
    amount: number;
    units: number;
    is_stale: boolean;
    limited_by: 'account' | 'key' | null;
    cap: number;
    spent: number;
    resets_at: Date;
    /** Of an answer that an earlier try of ours has kept: the figure in it. */
    remaining?: number | null;
}

/**
 * Begins, ends and marks holds in one statement and one commit: all of it is done, or nothing. The rule is `credits_move`
 * (migrations/1130). Answers are kept with their charges. Operations without a hold have no row.
 */
export function move(db: Db, { orders, settlements, marks }: Moves, timeoutMs: number): Promise<MovedRow[]> {
    // Holds are locked in the order of operations, and accounts in the order of their ids.
    const ended = settlements.toSorted(byOperation);
    const settling = [
        ended.map(({ operation }) => operation),
        ended.map(({ charge }) => charge),
        BONUSES.firstFetch,
        BONUSES.referral,
        BONUSES.referralsAMonth,
    ];
    if (settlements.some(({ answer }) => answer !== undefined)) {
        const answers = [
            ended.map(({ answer }) => answer?.call.workspaceId),
            ended.map(({ answer }) => answer?.call.route),
            ended.map(({ answer }) => answer?.call.key),
            ended.map(({ answer }) => answer?.sealed),
        ];
        return runPrepared<MovedRow>(db, SETTLE_AND_KEEP, [...settling, ...answers], timeoutMs);
    }
    const held = orders.toSorted((one, other) => compare(one.accountId, other.accountId));
    const holding = [
        held.map(({ operation }) => operation),
        held.map(({ accountId }) => accountId),
        held.map(({ userId }) => userId),
        held.map(({ workspaceId }) => workspaceId),
        held.map(({ keyId }) => keyId),
        held.map(({ site }) => site),
        held.map(({ endpoint }) => endpoint),
        held.map(({ versionId }) => versionId),
        held.map(({ effect }) => effect),
        held.map(({ unit }) => unit),
        held.map(({ maxUnits }) => maxUnits),
        held.map(({ expiresInMs }) => Math.ceil(expiresInMs)),
        held.map(({ isCapped }) => isCapped === true),
        held.map(({ siteState }) => siteState?.registrable),
        held.map(({ siteState }) => siteState?.revision),
    ];
    const marked = marks.toSorted(byOperation);
    const marking = [marked.map(({ operation }) => operation), marked.map(({ by }) => by)];
    return runPrepared<MovedRow>(db, MOVE, [...settling, ...holding, ...marking], timeoutMs);
}

const MOVE: PreparedQuery = {
    name: 'credits_move',
    text: `select * from credits_move($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
};

/** `stored` works on rows that were there before, and is looked at by every row of the result, so that it runs once and always. */
const SETTLE_AND_KEEP: PreparedQuery = {
    name: 'credits_settle_and_keep',
    text: `
        with given as materialized (
            select * from unnest($1::text[], $2::bigint[], $6::text[], $7::text[], $8::text[], $9::text[])
                as g (operation, charge, workspace, route, key, sealed)
        ), settled as materialized (
            select s.* from credits_move($1, $2, $3, $4, $5) s
        ), stored as materialized (
            select idempotency_keep(array_agg(g.workspace), array_agg(g.route), array_agg(g.key), array_agg(g.operation),
                                    array_agg(200::smallint), array_agg(g.sealed), array_agg(s.available)) as answers
            from given g join settled s using (operation) where s.won and g.sealed is not null
        )
        select s.*, case when not s.won then (
                   select i.remaining from idempotency i
                   where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key and i.operation = g.operation
               ) end as remaining
        from settled s cross join stored join given g using (operation)`,
};

const FIND: PreparedQuery = {
    name: 'credits_find_holds',
    text: `select h.operation, true as won, h.state, h.amount, h.units, c.allowance_available + c.bonus_available as available
        from holds h join credit_accounts c on c.id = h.account_id where h.operation = any ($1::text[])`,
};

/** Those of these orders that are held already. */
export async function findHolds(db: Db, orders: readonly HoldOrder[], timeoutMs: number): Promise<MovedRow[]> {
    return orders.length === 0 ? [] : runPrepared<MovedRow>(db, FIND, [orders.map(({ operation }) => operation)], timeoutMs);
}

function byOperation(one: { operation: string }, other: { operation: string }): number {
    return compare(one.operation, other.operation);
}

/** The order of bytes, as `collate "C"` has it. */
function compare(one: string, other: string): number {
    return one < other ? -1 : one > other ? 1 : 0;
}
