import type { LimitOverrides, Plan } from '../../domain/accounts/plans.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';

interface AccountPlan {
    plan: Plan;
    /** The monthly credits of the plan. An override takes precedence. */
    planAllowance: number;
    overrides?: LimitOverrides | undefined;
}

export interface Balance {
    allowance: { limit: number; remaining: number };
    /** Credits that never expire. */
    bonus: number;
    /** Credits reserved for running calls. They are part of neither `allowance` nor `bonus`. */
    held: number;
    /** Remaining allowance plus bonus. */
    available: number;
    /** When the next allowance is due. Under a subscription the allowance is renewed by the payment, so this time may be in the past. */
    resetsAt: Date;
    overrides: LimitOverrides;
}

/** The account that pays for calls with a key of this workspace and user: the user's account on Free, otherwise the workspace's. */
export function payerOf(plan: Plan, workspaceId: string, userId: string): string {
    return plan === 'free' ? userId : workspaceId;
}

/** Opens the account `usr_…` (Free) or `wsp_…` (a paid plan) and begins its first period. Does not change an open account. */
export async function openAccount(db: Db, account: AccountPlan & { id: string }): Promise<void> {
    const opened = await db('credit_accounts').where({ id: account.id }).update({ moved_to: null });
    if (opened === 0) await open(db, account.id, account, false);
}

/** Replaces the overrides within the period; none: clears them. Credits that were used count against the new limit. */
export async function setLimits(db: Db, id: string, account: AccountPlan): Promise<void> {
    await open(db, id, account, false);
}

/**
 * Puts a workspace on a plan. Returns the id of the paying account, or undefined if there is no such workspace. A different plan begins a
 * new billing period at once; the same plan only updates the overrides. On a change from Free to a paid plan, the owner's bonus moves to
 * the account of the workspace; on a change back to Free, it moves back. Bonus credits that running calls hold follow later by
 * `forwardBonus`.
 */
export async function changePlan(db: Db, workspaceId: string, account: AccountPlan): Promise<string | undefined> {
    return db.transaction(async (trx) => {
        const before = await lockWorkspace(trx, workspaceId);
        if (before === undefined) return undefined;
        if (before.owner === null) throw new Error(`workspace ${workspaceId} has no owner`);
        await lockAccounts(trx, before.owner, workspaceId);
        await trx('workspaces').where({ id: workspaceId }).update({ plan: account.plan });
        const payer = payerOf(account.plan, workspaceId, before.owner);
        const isUser = payer === before.owner;
        // The period of a user does not restart when a workspace changes its plan.
        await open(trx, payer, account, !isUser && before.plan !== account.plan);
        if (isUser && before.plan !== 'free') await closeWorkspaceAccount(trx, workspaceId, before.owner);
        if (!isUser && before.plan === 'free') await leaveFree(trx, before.owner, workspaceId);
        return payer;
    });
}

/** Reads the balance like `readBalance`, and locks the account until the end of the transaction. */
export async function lockBalance(trx: Db, accountId: string): Promise<Balance | undefined> {
    await trx('credit_accounts').where({ id: accountId }).forUpdate().select('id');
    return readBalance(trx, accountId);
}

/** Ends the allowance of the account of a deleted user at once, including held credits of it. */
export async function endAllowance(trx: Db, userId: string): Promise<void> {
    await trx('credit_accounts as c')
        .where({ id: userId })
        .select(trx.raw('credits_begin_period(c, 0, app_now(), null, credit_period_end(app_now(), 1))'));
}

/** A period that an invoice paid for. The invoice sets its dates, not the calendar. */
interface PaidPeriod {
    plan: Plan;
    planAllowance: number;
    from: Date;
    until: Date;
}

/**
 * Begins a paid period of a workspace: renews the allowance, and changes the plan if it differs. Unused credits stay usable for three days
 * after `until`, until the next invoice is paid. Call it in the transaction that marks the invoice as granted. Returns false if the
 * workspace has no members.
 */
export async function renewWorkspace(db: Db, workspaceId: string, period: PaidPeriod): Promise<boolean> {
    const before = await lockWorkspace(db, workspaceId);
    if (before === undefined || before.owner === null) return false;
    await lockAccounts(db, before.owner, workspaceId);
    const { plan, planAllowance, from, until } = period;
    await db('workspaces').where({ id: workspaceId }).update({ plan });
    await db.first(db.raw('credits_renew(?, ?, ?, ?, ?)', [workspaceId, plan, planAllowance, from, until]));
    if (before.plan === 'free') await leaveFree(db, before.owner, workspaceId);
    return true;
}

/** Moves bonus credits from accounts that are no longer used to the account that replaced them. Returns the number of credits moved. */
export async function forwardBonus(db: Db): Promise<number> {
    const left = await db('credit_accounts').whereNotNull('moved_to').where('bonus_available', '>', 0).select('id', 'moved_to');
    let moved = 0;
    for (const account of left) moved += await moveBonus(db, account.id, account.moved_to);
    return moved;
}

/** Reads the balance of an account, after starting a new period if one is due; undefined for an unknown account. */
export async function readBalance(db: Db, accountId: string): Promise<Balance | undefined> {
    const [row] = await readRows(db, [accountId]);
    return bringUpToDate(db, row);
}

/** Reads balances in batches. Calls of the same tick share one query. */
export function createBalances(db: Db): (accountId: string) => Promise<Balance | undefined> {
    const read = openBatch({
        async run(accountIds: readonly string[]) {
            const rows = new Map((await readRows(db, accountIds)).map((row) => [row.id, row]));
            return accountIds.map((id) => rows.get(id));
        },
    });
    return async (accountId) => bringUpToDate(db, await read.add(accountId));
}

/** Reads without locks, so that one account does not block others. */
async function readRows(db: Db, accountIds: readonly string[]): Promise<AccountRow[]> {
    return db('credit_accounts')
        .whereRaw('id = any(?)', [[...accountIds]])
        .select('*', db.raw('resets_at <= app_now() as is_over'));
}

async function bringUpToDate(db: Db, row: AccountRow | undefined): Promise<Balance | undefined> {
    if (row?.is_over !== true) return row && balanceOf(row);
    const turned: AccountRow | undefined = await db(db.raw('credits_refresh(?)', [row.id])).first();
    return turned && balanceOf(turned);
}

async function open(db: Db, id: string, account: AccountPlan, isRestart: boolean): Promise<void> {
    const limits = JSON.stringify(account.overrides ?? {});
    await db.first(db.raw('credits_open(?, ?, ?, ?::jsonb, ?)', [id, account.plan, account.planAllowance, limits, isRestart]));
}

/** Locks a workspace and returns it with its first owner; the owner is null if all members have left. */
async function lockWorkspace(db: Db, id: string): Promise<{ plan: Plan; owner: string | null } | undefined> {
    const owner = db('memberships')
        .where({ workspace_id: id, role: 'owner' })
        .orderBy(['created_at', 'user_id'])
        .limit(1)
        .select('user_id');
    return db('workspaces').where({ id }).forUpdate().first({ plan: 'plan', owner });
}

/** Locks in the order of ids, like charges that pay a bonus to another account. */
async function lockAccounts(db: Db, owner: string, workspaceId: string): Promise<void> {
    await db('credit_accounts').whereIn('id', [owner, workspaceId]).orderBy('id').forUpdate().select('id');
}

/** Ends the allowance of the workspace at once, including held credits of it. */
async function closeWorkspaceAccount(db: Db, workspaceId: string, owner: string): Promise<void> {
    await open(db, workspaceId, { plan: 'free', planAllowance: 0 }, true);
    await moveBonus(db, workspaceId, owner);
    await db('credit_accounts').where({ id: workspaceId }).update({ moved_to: owner });
}

async function leaveFree(db: Db, owner: string, workspaceId: string): Promise<void> {
    await moveBonus(db, owner, workspaceId);
    const onFree = db('memberships as m').join('workspaces as w', 'w.id', 'm.workspace_id');
    await db('credit_accounts')
        .where({ id: owner })
        .whereNotExists(onFree.where({ 'm.user_id': owner, 'm.role': 'owner', 'w.plan': 'free' }))
        .update({ moved_to: workspaceId });
}

async function moveBonus(db: Db, from: string, to: string): Promise<number> {
    const { moved } = await db.first<{ moved: number }>(db.raw('credits_move_bonus(?, ?) as moved', [from, to]));
    return moved;
}

interface AccountRow {
    id: string;
    per_minute: number | null;
    per_hour: number | null;
    per_day: number | null;
    allowance_override: number | null;
    concurrency: number | null;
    monitors: number | null;
    allowance: number;
    allowance_available: number;
    bonus_available: number;
    held: number;
    resets_at: Date;
    billing_date: Date | null;
    is_over?: boolean;
}

function balanceOf(row: AccountRow): Balance {
    return {
        allowance: { limit: row.allowance, remaining: row.allowance_available },
        bonus: row.bonus_available,
        held: row.held,
        available: row.allowance_available + row.bonus_available,
        resetsAt: row.billing_date ?? row.resets_at,
        overrides: {
            ...(row.per_minute !== null && { perMinute: row.per_minute }),
            ...(row.per_hour !== null && { perHour: row.per_hour }),
            ...(row.per_day !== null && { perDay: row.per_day }),
            ...(row.allowance_override !== null && { allowance: row.allowance_override }),
            ...(row.concurrency !== null && { concurrency: row.concurrency }),
            ...(row.monitors !== null && { monitors: row.monitors }),
        },
    };
}
