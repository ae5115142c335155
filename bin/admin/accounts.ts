import { type Command, InvalidArgumentError, Option } from 'commander';
import { readEmail } from '../../shared/domain/accounts/email.ts';
import { PLAN_NAMES, type Plan } from '../../shared/domain/accounts/plans.ts';
import { EVERY_SCOPE, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { scopeText } from '../../shared/domain/accounts/scopes-text.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { dropFactors, factorsOf } from '../../shared/store/accounts/factors.ts';
import { type Mail, queueMail } from '../../shared/store/accounts/mails.ts';
import { findUser, setSuspended } from '../../shared/store/accounts/users.ts';
import { recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import { fields, idOf, type Run, type Work, wholeNumber } from './command.ts';
import { type LimitOptions, presentLimits, readLimits, withLimits } from './limits.ts';
import { AdminFault, audited } from './operator.ts';
import { SCOPES_HELP, scopesOf } from './scopes.ts';

interface CreateOptions extends LimitOptions {
    email: string;
    plan: Plan;
    credits?: number;
    invitedBy?: string;
    scopes?: Scopes;
}

/** `account create | suspend | resume`. */
export function addAccountCommands(program: Command, run: Run): void {
    const account = program.command('account').description('accounts and the people behind them');
    withLimits(
        account
            .command('create')
            .description('make a verified user, or find the one of this address, with a workspace and a key')
            .requiredOption('--email <address>', 'whom it is for', readAddress)
            .addOption(new Option('--plan <plan>').choices(PLAN_NAMES).default('free'))
            .option('--credits <n>', 'bonus credits, on top of the allowance', wholeNumber(0, 1_000_000_000))
            .option('--invited-by <user>', 'who invited this new address', idOf('usr'))
            .option('--scopes <parts>', SCOPES_HELP, scopesOf),
    ).action((options: CreateOptions) => run(create(options)));
    account
        .command('suspend')
        .description('refuse every key of a user, within a second')
        .argument('<user>', 'usr_…', idOf('usr'))
        .action((userId: string) => run(suspend(userId, true)));
    account
        .command('resume')
        .description('let a suspended user back in')
        .argument('<user>', 'usr_…', idOf('usr'))
        .action((userId: string) => run(suspend(userId, false)));
    account
        .command('reset-factor')
        .description('take every second factor of a user away who lost them, and mail the user')
        .argument('<user>', 'usr_…', idOf('usr'))
        .action((userId: string) => run(resetFactor(userId)));
}

function create(options: CreateOptions): Work {
    return async (operator) => {
        const { email, plan, credits, invitedBy, scopes = EVERY_SCOPE } = options;
        const overrides = readLimits(options);
        const made = await audited(operator, { command: 'account create' }, async (trx) => {
            if (invitedBy !== undefined && (await findUser(trx, invitedBy)) === undefined) throw noUser(invitedBy);
            const order = { email, plan, bonus: credits, invitedBy, scopes };
            const result = await accounts.createAccount(trx, Object.keys(overrides).length > 0 ? { ...order, overrides } : order);
            const { userId, workspaceId, keyId } = result;
            const limits = presentLimits(overrides);
            const act = { workspaceId, actor: 'operator' } as const;
            await recordAct(trx, { ...act, action: 'workspace.created', target: workspaceId, details: { plan } });
            await recordAct(trx, { ...act, action: 'key.created', target: keyId, details: { name: 'default', scopes: scopeText(scopes) } });
            const after = {
                email,
                plan,
                credits: credits ?? 0,
                invited_by: invitedBy ?? null,
                limits,
                workspace_id: workspaceId,
                key_id: keyId,
            };
            return { target: userId, before: null, after, result };
        });
        const result = { user_id: made.userId, workspace_id: made.workspaceId, key_id: made.keyId, api_key: made.apiKey };
        const isLate = invitedBy !== undefined && !made.isNewUser;
        return {
            result,
            lines: fields(result),
            ...(isLate && { note: 'admin: this address is not new, so that the invitation does not count' }),
        };
    };
}

function suspend(userId: string, isSuspended: boolean): Work {
    return async (operator) => {
        const command = isSuspended ? 'account suspend' : 'account resume';
        await audited(operator, { command }, async (trx) => {
            const user = await findUser(trx, userId);
            if (user === undefined) throw noUser(userId);
            await setSuspended(trx, userId, isSuspended);
            return {
                target: userId,
                before: { suspended: user.suspendedAt !== null },
                after: { suspended: isSuspended },
                result: undefined,
            };
        });
        const result = { user_id: userId, suspended: isSuspended };
        return { result, lines: fields(result) };
    };
}

function resetFactor(userId: string): Work {
    return async (operator) => {
        const lost = await audited(operator, { command: 'account reset-factor' }, async (trx) => {
            const user = await findUser(trx, userId);
            if (user === undefined) throw noUser(userId);
            const { hasTotp, passkeys } = await factorsOf(trx, userId);
            const before = { authenticator_app: hasTotp, passkeys };
            await dropFactors(trx, userId);
            await queueMail(trx, operator.secrets, resetFactorLetter(user.email));
            return { target: userId, before, after: { authenticator_app: false, passkeys: 0 }, result: before };
        });
        const result = { user_id: userId, removed: lost };
        return { result, lines: fields({ user_id: userId, removed_app: lost.authenticator_app, removed_passkeys: lost.passkeys }) };
    };
}

function resetFactorLetter(to: string): Mail {
    return {
        to,
        subject: 'Your second factor was removed',
        text: `The operator of Routebook removed the second factors of your account: your authenticator app, passkeys and recovery codes.

You sign in with your password alone now. Set a second factor up again in your settings. If you did not ask for this, write to the
operator at once.
`,
    };
}

function noUser(userId: string): AdminFault {
    return new AdminFault('NOT_FOUND', `There is no user ${userId}.`);
}

function readAddress(text: string): string {
    const email = readEmail(text);
    if (email.ok) return email.address;
    throw new InvalidArgumentError(email.message);
}
