import { readEmail } from '../../shared/domain/accounts/email.ts';
import type { Plan } from '../../shared/domain/accounts/plans.ts';
import { EVERY_SCOPE, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { scopeText } from '../../shared/domain/accounts/scopes-text.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { Db } from '../../shared/platform/db.ts';
import { createAccount, setPlan } from '../../shared/store/accounts/accounts.ts';
import { deleteAccount, type LeftWorkspace, workspacesLeft, workspacesNeedingOwner } from '../../shared/store/accounts/delete-account.ts';
import { findAccounts, findByAddress, type ListedAccount, listAccounts } from '../../shared/store/accounts/directory.ts';
import { dropFactors, factorsOf } from '../../shared/store/accounts/factors.ts';
import { type Mail, queueMail } from '../../shared/store/accounts/mails.ts';
import { findUser, setSuspended, type User } from '../../shared/store/accounts/users.ts';
import { recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import { findSubscription, isBilled } from '../../shared/store/billing/subscriptions.ts';
import { type Done, done, fields, table } from './command.ts';
import { type LimitOptions, presentLimits, readLimits } from './money.ts';
import { AdminFault, audited, type Operator } from './operator.ts';

interface ListOptions {
    plan?: Plan;
    limit: number;
}

export async function list({ db }: Operator, { plan, limit }: ListOptions): Promise<Done> {
    return present(await listAccounts(db, { plan, limit }));
}

export async function find({ db }: Operator, words: string, { limit }: ListOptions): Promise<Done> {
    return present(await findAccounts(db, words, limit));
}

function present(accounts: readonly ListedAccount[]): Done {
    const state = ({ isVerified, isSuspended }: ListedAccount) => (isSuspended ? 'suspended' : isVerified ? 'verified' : 'unverified');
    return {
        result: accounts.map((account) => ({
            user_id: account.userId,
            email: account.email,
            verified: account.isVerified,
            suspended: account.isSuspended,
            created_at: account.createdAt.toISOString(),
            workspaces: account.workspaces.map((one) => presentFields(one, 'workspace_id name plan role')),
        })),
        lines: table(
            ['user', 'workspace', 'address', 'plan', 'state', 'role', 'since'],
            accounts.flatMap((account) => {
                const { userId, email, createdAt, workspaces } = account;
                const since = createdAt.toISOString().slice(0, 10);
                if (workspaces.length === 0) return [[userId, null, email, null, state(account), null, since]];
                return workspaces.map(({ workspaceId, plan, role }, index) =>
                    index === 0
                        ? [userId, workspaceId, email, plan, state(account), role, since]
                        : ['', workspaceId, '', plan, '', role, ''],
                );
            }),
        ),
    };
}

interface CreateOptions extends LimitOptions {
    email: string;
    plan: Plan;
    credits?: number;
    invitedBy?: string;
    scopes?: Scopes;
    anotherWorkspace?: true;
}

/** `account create`. A second workspace for an address may be a mistake, so a person asks for it by `--another-workspace`. */
export async function create(operator: Operator, options: CreateOptions): Promise<Done> {
    const { email, plan, credits, invitedBy, scopes = EVERY_SCOPE, anotherWorkspace } = options;
    const overrides = readLimits(options);
    const made = await audited(operator, async (trx) => {
        if (invitedBy !== undefined) await userOrFault(trx, invitedBy);
        const earlier = await earlierAccount(trx, email);
        if (earlier !== undefined && !operator.isJson && anotherWorkspace !== true) {
            throw new AdminFault('VALIDATION_ERROR', `${earlier}. Add --another-workspace to create another workspace for it.`);
        }
        const limited = Object.keys(overrides).length > 0 ? { overrides } : {};
        const result = await createAccount(trx, { email, plan, bonus: credits, invitedBy, scopes, ...limited });
        const { userId, workspaceId, keyId } = result;
        const act = { workspaceId, actor: 'operator' } as const;
        await recordAct(trx, { ...act, action: 'workspace.created', target: workspaceId, details: { plan } });
        await recordAct(trx, { ...act, action: 'key.created', target: keyId, details: { name: 'default', scopes: scopeText(scopes) } });
        const order = { email, plan, credits: credits ?? 0, invited_by: invitedBy ?? null, limits: presentLimits(overrides) };
        return {
            target: userId,
            before: null,
            after: { ...order, workspace_id: workspaceId, key_id: keyId },
            result: { ...result, earlier },
        };
    });
    const isLate = invitedBy !== undefined && !made.isNewUser;
    const notes = [
        ...(made.earlier === undefined ? [] : [`admin: ${made.earlier}; another workspace was created for it`]),
        ...(isLate ? ['admin: this address is not new, so the invitation does not count'] : []),
    ];
    return {
        ...done({ user_id: made.userId, workspace_id: made.workspaceId, key_id: made.keyId, api_key: made.apiKey }),
        ...(notes.length > 0 && { note: notes.join('\n') }),
    };
}

async function earlierAccount(db: Db, address: string): Promise<string | undefined> {
    const email = readEmail(address);
    const known = email.ok ? await findByAddress(db, email.normalised) : undefined;
    if (known === undefined) return undefined;
    const names = known.workspaces.map(({ workspaceId, plan }) => `${workspaceId} on ${plan}`).join(', ');
    return `${known.email} has an account already: ${known.userId}${names === '' ? '' : ` with ${names}`}`;
}

export async function suspend(operator: Operator, userId: string): Promise<Done> {
    return change(operator, userId, true);
}

export async function resume(operator: Operator, userId: string): Promise<Done> {
    return change(operator, userId, false);
}

async function change(operator: Operator, userId: string, isSuspended: boolean): Promise<Done> {
    await audited(operator, async (trx) => {
        const before = { suspended: (await userOrFault(trx, userId)).suspendedAt !== null };
        await setSuspended(trx, userId, isSuspended);
        return { target: userId, before, after: { suspended: isSuspended }, result: undefined };
    });
    return done({ user_id: userId, suspended: isSuspended });
}

/**
 * `account delete`. Workspaces that nobody else is in lose their plan first. A subscription has to be ended at Stripe, which this tool does
 * not call.
 */
export async function remove(operator: Operator, userId: string, { reason }: { reason: string }): Promise<Done> {
    const left = await audited(
        operator,
        async (trx) => {
            const workspaces = await workspacesToLeave(trx, userId);
            for (const { workspaceId, plan, members } of workspaces) {
                if (members === 1 && plan !== 'free') await setPlan(trx, workspaceId, 'free', {});
            }
            const names = workspaces.map(({ workspaceId }) => workspaceId);
            if (!(await deleteAccount(trx, userId))) throw new AdminFault('NOT_FOUND', `${userId} is already deleted.`);
            return { target: userId, before: { workspaces: names }, after: null, result: names };
        },
        reason,
    );
    return { result: { user_id: userId, deleted: true, workspaces: left }, lines: fields({ user_id: userId, deleted: true }) };
}

/** @throws AdminFault if there is no such user, or a workspace would lose its only owner or be left with a paid plan */
async function workspacesToLeave(db: Db, userId: string): Promise<LeftWorkspace[]> {
    await userOrFault(db, userId);
    const workspaces = await workspacesLeft(db, userId);
    const orphans = workspacesNeedingOwner(workspaces).map(({ workspaceId }) => workspaceId);
    if (orphans.length > 0) {
        const words = `${userId} is the only owner of ${orphans.join(', ')}. Make another member an owner first.`;
        throw new AdminFault('FORBIDDEN', words);
    }
    for (const { workspaceId, plan, members } of workspaces) {
        if (members === 1 && isBilled(await findSubscription(db, workspaceId))) {
            throw new AdminFault('FORBIDDEN', `${workspaceId} pays for ${plan} at Stripe: cancel the subscription there first.`);
        }
    }
    return workspaces;
}

export async function resetFactor(operator: Operator, userId: string): Promise<Done> {
    const lost = await audited(operator, async (trx) => {
        const { email } = await userOrFault(trx, userId);
        const { hasTotp, passkeys } = await factorsOf(trx, userId);
        const before = { authenticator_app: hasTotp, passkeys };
        await dropFactors(trx, userId);
        await queueMail(trx, operator.secrets, resetFactorMail(email));
        return { target: userId, before, after: { authenticator_app: false, passkeys: 0 }, result: before };
    });
    return {
        result: { user_id: userId, removed: lost },
        lines: fields({ user_id: userId, removed_app: lost.authenticator_app, removed_passkeys: lost.passkeys }),
    };
}

function resetFactorMail(to: string): Mail {
    return {
        to,
        subject: 'Your second factor was removed',
        text: `The operator of Routebook removed the second factors of your account: your authenticator app, passkeys and recovery codes.

You sign in with your password alone now. Set a second factor up again in your settings. If you did not ask for this, write to the
operator at once.
`,
    };
}

async function userOrFault(db: Db, userId: string): Promise<User> {
    const user = await findUser(db, userId);
    if (user === undefined) throw new AdminFault('NOT_FOUND', `There is no user ${userId}.`);
    return user;
}
