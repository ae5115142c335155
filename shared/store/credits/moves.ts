import type { Effect } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { KeyedCall } from '../fetch/idempotency.ts';
import { BONUSES } from './bonuses.ts';

/** The maximum cost of a call, and the account that pays. */
export interface HoldOrder {
    /** `op_…`, a new id for each call. */
    operation: string;
    /** The paying account: `usr_…` on Free, `wsp_…` on a paid plan. */
    accountId: string;
    userId: string;
    workspaceId: string;
    keyId: string;
    site: string;
    endpoint: string;
    versionId: number;
    effect: Effect;
    /** Price of one unit in credits, at least 1. */
    unit: number;
    /** Number of units wanted, at least 1. Fewer are held if the balance or a cap allows fewer. */
    maxUnits: number;
    /** Time until the hold expires: the time to the deadline plus a grace period. */
    expiresInMs: number;
    /** The cached state of the site. If the site has changed since, nothing is held. */
    siteState?: { registrable: string; revision: string } | undefined;
    /** Whether the account or the key has a daily spending cap. */
    isCapped?: boolean;
    /** The batch, and how many of its items share this hold. Absent for calls outside of batches. */
    batch?: { batchId: string; items: number };
}

/** How a hold ends: by a charge of an exact amount, or by a release (null). */
export interface Settlement {
    operation: string;
    charge: number | null;
    /** The credits that ended items of a batch held, and the movement's operation `op_…`. Absent: what is left of the hold. */
    part?: { held: number; movement: string };
    answer?: AnswerToKeep | undefined;
    /** Whether an earlier attempt may have been committed. */
    mayBeDone?: boolean;
}

/** The answer of a call with an idempotency key, in two parts. The available credits after the charge go between them. */
export interface AnswerToKeep {
    call: KeyedCall;
    head: string;
    tail: string;
    /** Both parts, encrypted, in base64. This text is stored. */
    sealed: string;
}

/** A worker's change from `held` to `sent`; `by` is new for each mark. */
export interface Mark {
    operation: string;
    by: string;
}

interface Moves {
    orders: readonly HoldOrder[];
    settlements: readonly Settlement[];
    marks: readonly Mark[];
}

export type HoldState = 'held' | 'sent' | 'charged' | 'released';

/** A hold after it began, ended or was marked. `won` is false if that was refused or another call was first. */
export interface MovedRow {
    operation: string;
    won: boolean;
    state: HoldState;
    /** Whether a worker marked the hold as sent, even if another call ended it. */
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
    /** The available credits in an answer that an earlier attempt has stored. */
    remaining?: number | null;
}

/** Begins, ends and marks holds, all or none, by `credits_move` (migrations/230). Operations without a hold have no row. */
export function move(db: Db, { orders, settlements, marks }: Moves, timeoutMs: number): Promise<MovedRow[]> {
    // Locks holds in the order of operations, and accounts in the order of their ids.
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
    const { holding, batches } = holdArrays(orders);
    const marked = marks.toSorted(byOperation);
    const marking = [marked.map(({ operation }) => operation), marked.map(({ by }) => by)];
    const ofBatches = [ended.map(({ part }) => part?.held), ended.map(({ part }) => part?.movement), ...batches];
    return runPrepared<MovedRow>(db, MOVE, [...settling, ...holding, ...marking, ...ofBatches], timeoutMs);
}

type ArrayValue = readonly (string | number | boolean | null)[];

/** Orders as arguments of `credits_move`: `h_operation` to `h_revision`, then `h_batch` and `h_items`. */
export function holdArrays(orders: readonly HoldOrder[]): { holding: ArrayValue[]; batches: ArrayValue[] } {
    const held = orders.toSorted((one, other) => compare(one.accountId, other.accountId));
    return {
        holding: [
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
            held.map(({ siteState }) => siteState?.registrable ?? null),
            held.map(({ siteState }) => siteState?.revision ?? null),
        ],
        batches: [held.map(({ batch }) => batch?.batchId ?? null), held.map(({ batch }) => batch?.items ?? null)],
    };
}

const MOVE: PreparedQuery = {
    name: 'credits_move',
    text: `select * from credits_move($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
                                         $24, $25, $26)`,
};

/** `stored` works on rows that existed before. Every row of the result refers to it, so that PostgreSQL always runs it, and only once. */
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

/** Finds those of the given orders that are already held. */
export async function findHolds(db: Db, orders: readonly HoldOrder[], timeoutMs: number): Promise<MovedRow[]> {
    return orders.length === 0 ? [] : runPrepared<MovedRow>(db, FIND, [orders.map(({ operation }) => operation)], timeoutMs);
}

function byOperation(one: { operation: string }, other: { operation: string }): number {
    return compare(one.operation, other.operation);
}

/** Byte order, like `collate "C"`. */
function compare(one: string, other: string): number {
    return one < other ? -1 : one > other ? 1 : 0;
}
