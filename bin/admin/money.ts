import { Argument, type Command } from 'commander';
import { PLAN_NAMES, type Plan } from '../../shared/domain/accounts/plans.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import { findSubscription, isBilled } from '../../shared/store/billing/subscriptions.ts';
import { readBalance } from '../../shared/store/credits/credits.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { fields, idOf, type Run, table, type Work, wholeNumber } from './command.ts';
import { type LimitOptions, presentLimits, readLimits, withLimits } from './limits.ts';
import { AdminFault, audited } from './operator.ts';
import { workspaceOrFault } from './workspaces.ts';

/** `plan set`, `credits grant`, `ledger check`. */
export function addMoneyCommands(program: Command, run: Run): void {
    const plan = program.command('plan').description('what a workspace pays and may do');
    withLimits(
        plan
            .command('set')
            .description('put a workspace on a plan, with these limits and no others')
            .argument('<workspace>', 'wsp_…', idOf('wsp'))
            .addArgument(new Argument('<plan>').choices(PLAN_NAMES)),
    ).action((workspaceId: string, name: Plan, limits: LimitOptions) => run(setPlan(workspaceId, name, limits)));
    program
        .command('credits')
        .description('credits beside the allowance')
        .command('grant')
        .description('give the account that pays for a workspace credits that never expire')
        .argument('<workspace>', 'wsp_…', idOf('wsp'))
        .argument('<n>', 'credits', wholeNumber(1, 1_000_000_000))
        .action((workspaceId: string, amount: number) => run(grant(workspaceId, amount)));
    program
        .command('ledger')
        .description("the accounts' books")
        .command('check')
        .description('name every account whose entries do not sum to its balance')
        .action(() => run(check));
}

function setPlan(workspaceId: string, plan: Plan, limits: LimitOptions): Work {
    return async (operator) => {
        const overrides = readLimits(limits);
        const accountId = await audited(operator, { command: 'plan set' }, async (trx) => {
            const workspace = await workspaceOrFault(trx, workspaceId);
            if (plan !== workspace.plan && isBilled(await findSubscription(trx, workspaceId))) {
                throw new AdminFault(
                    'FORBIDDEN',
                    `${workspaceId} pays for ${workspace.plan} at Stripe: cancel the subscription there first.`,
                );
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
        const result = { workspace_id: workspaceId, account_id: accountId, plan, limits: presentLimits(overrides) };
        return { result, lines: fields({ workspace_id: workspaceId, account_id: accountId, plan }) };
    };
}

function grant(workspaceId: string, amount: number): Work {
    return async (operator) => {
        const result = await audited(operator, { command: 'credits grant' }, async (trx) => {
            const workspace = await workspaceOrFault(trx, workspaceId);
            const balance = await accounts.grantCredits(trx, workspace, amount);
            const granted = { workspace_id: workspaceId, account_id: workspace.accountId, granted: amount, balance };
            const before = { balance: balance - amount };
            return { target: workspaceId, before, after: { balance, account_id: workspace.accountId }, result: granted };
        });
        return { result, lines: fields(result) };
    };
}

const check: Work = async ({ db }) => {
    const drifts = await checkLedger(db);
    const accountsOff = drifts.map(({ accountId, available, held, openHolds }) => ({
        account_id: accountId,
        available,
        held,
        open_holds: openHolds,
    }));
    const isOk = drifts.length === 0;
    return {
        result: { ok: isOk, accounts: accountsOff },
        lines: isOk
            ? ['every ledger sums']
            : table(
                  ['account', 'available off by', 'held off by', 'open holds off by'],
                  drifts.map((drift) => [drift.accountId, drift.available, drift.held, drift.openHolds]),
              ),
        isFailure: !isOk,
    };
};
