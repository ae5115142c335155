import type { LimitOverrides, Plan } from '../../shared/domain/accounts/plans.ts';
import { defined } from '../../shared/domain/defined.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import { findSubscription, isBilled } from '../../shared/store/billing/subscriptions.ts';
import { readBalance } from '../../shared/store/credits/accounts.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { type Done, done, fields, table } from './command.ts';
import { AdminFault, audited, type Operator, workspaceOrFault } from './operator.ts';

/** The options that override a plan's figures, as commander names them. */
export type LimitOptions = { [Limit in keyof LimitOverrides]?: number };

/** Only the limits that were given on the command line. */
export function readLimits({ perMinute, perHour, perDay, allowance, concurrency, monitors }: LimitOptions): LimitOverrides {
    return defined<LimitOverrides>({ perMinute, perHour, perDay, allowance, concurrency, monitors });
}

/** Overrides as shown in results and in the audit log; null follows the plan. */
export function presentLimits(overrides: LimitOverrides): JsonObject {
    return {
        per_minute: overrides.perMinute ?? null,
        per_hour: overrides.perHour ?? null,
        per_day: overrides.perDay ?? null,
        allowance: overrides.allowance ?? null,
        concurrency: overrides.concurrency ?? null,
        monitors: overrides.monitors ?? null,
    };
}

export async function setPlan(operator: Operator, workspaceId: string, plan: Plan, limits: LimitOptions): Promise<Done> {
    const overrides = readLimits(limits);
    const accountId = await audited(operator, async (trx) => {
        const workspace = await workspaceOrFault(trx, workspaceId);
        if (plan !== workspace.plan && isBilled(await findSubscription(trx, workspaceId))) {
            throw new AdminFault('FORBIDDEN', `${workspaceId} pays for ${workspace.plan} at Stripe: cancel the subscription there first.`);
        }
        const former = await readBalance(trx, workspace.accountId);
        const payer = (await accounts.setPlan(trx, workspaceId, plan, overrides)) ?? workspace.accountId;
        if (plan !== workspace.plan) {
            const details = { plan, former: workspace.plan };
            await recordAct(trx, { workspaceId, actor: 'operator', action: 'plan.changed', target: workspaceId, details });
        }
        return {
            target: workspaceId,
            before: { plan: workspace.plan, limits: presentLimits(former?.overrides ?? {}) },
            after: { plan, limits: presentLimits(overrides) },
            result: payer,
        };
    });
    const set = { workspace_id: workspaceId, account_id: accountId, plan };
    return { result: { ...set, limits: presentLimits(overrides) }, lines: fields(set) };
}

export async function grant(operator: Operator, workspaceId: string, amount: number): Promise<Done> {
    const result = await audited(operator, async (trx) => {
        const workspace = await workspaceOrFault(trx, workspaceId);
        const balance = await accounts.grantCredits(trx, workspace, amount);
        const after = { balance, account_id: workspace.accountId };
        const granted = { workspace_id: workspaceId, account_id: workspace.accountId, granted: amount, balance };
        return { target: workspaceId, before: { balance: balance - amount }, after, result: granted };
    });
    return done(result);
}

export async function check({ db }: Operator): Promise<Done> {
    const drifts = (await checkLedger(db)).map((drift) => presentFields(drift, 'account_id available held open_holds'));
    const isOk = drifts.length === 0;
    const heads = ['account', 'available off by', 'held off by', 'open holds off by'];
    return {
        result: { ok: isOk, accounts: drifts },
        lines: isOk ? ['every ledger adds up'] : table(heads, drifts.map(Object.values)),
        isFailure: !isOk,
    };
}
