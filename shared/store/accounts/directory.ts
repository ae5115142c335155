import type { Knex } from 'knex';
import type { Plan } from '../../domain/accounts/plans.ts';
import type { Role } from '../../domain/accounts/roles.ts';
import { type Columns, type Db, definedConditions } from '../../platform/db.ts';

/** Looks up accounts and workspaces for operators. */

export interface ListedAccount {
    userId: string;
    email: string;
    isVerified: boolean;
    isSuspended: boolean;
    createdAt: Date;
    workspaces: { workspaceId: string; name: string; plan: Plan; role: Role }[];
}

interface ListedWorkspace {
    workspaceId: string;
    name: string;
    plan: Plan;
    members: number;
    /** The mail address of the first owner. */
    owner: string | null;
    createdAt: Date;
}

/** Accounts, newest first. With `plan`, only accounts that have a workspace on that plan. */
export async function listAccounts(db: Db, { plan, limit }: { plan: Plan | undefined; limit: number }): Promise<ListedAccount[]> {
    const accounts = allAccounts(db);
    if (plan !== undefined) accounts.whereIn('u.id', membersOf(db, { 'w.plan': plan }));
    return withWorkspaces(db, await accounts.limit(limit));
}

/** Finds accounts, newest first, by the id of a user, workspace or key, by a key or its beginning, or by a part of the mail address. */
export async function findAccounts(db: Db, words: string, limit: number): Promise<ListedAccount[]> {
    const accounts = allAccounts(db);
    if (words.startsWith('usr_')) accounts.where({ 'u.id': words });
    else if (words.startsWith('wsp_')) accounts.whereIn('u.id', membersOf(db, { 'w.id': words }));
    else if (words.startsWith('key_')) accounts.whereIn('u.id', db('api_keys').where({ id: words }).select('user_id'));
    else if (words.startsWith('rb_live_'))
        accounts.whereIn(
            'u.id',
            db('api_keys')
                .where({ prefix: words.slice(0, 12) })
                .select('user_id'),
        );
    else accounts.whereRaw('strpos(lower(u.email), lower(?)) > 0', [words]);
    return withWorkspaces(db, await accounts.limit(limit));
}

/** The user with an address, and the data of that user; undefined for a new address. @param normalised see domain/accounts/email.ts */
export async function findByAddress(db: Db, normalised: string): Promise<ListedAccount | undefined> {
    const [account] = await withWorkspaces(db, await allAccounts(db).where({ 'u.email_normalised': normalised }));
    return account;
}

/** Workspaces, newest first, except the operator's own. */
export async function listWorkspaces(db: Db, { plan, limit }: { plan: Plan | undefined; limit: number }): Promise<ListedWorkspace[]> {
    const owner = db('memberships as m')
        .join('users as u', 'u.id', 'm.user_id')
        .whereRaw('m.workspace_id = w.id')
        .where({ role: 'owner' })
        .orderBy(['m.created_at', 'm.user_id'])
        .limit(1)
        .select('u.email');
    const columns: Columns<ListedWorkspace> = {
        workspaceId: 'w.id',
        name: 'w.name',
        plan: 'w.plan',
        members: db('memberships as m').whereRaw('m.workspace_id = w.id').count(),
        owner,
        createdAt: 'w.created_at',
    };
    return db('workspaces as w')
        .where(definedConditions({ 'w.plan': plan }))
        .whereExists(db('memberships as m').whereRaw('m.workspace_id = w.id'))
        .orderBy([{ column: 'w.created_at', order: 'desc' }, 'w.id'])
        .limit(limit)
        .select(columns);
}

type Named = Omit<ListedAccount, 'workspaces'>;

function allAccounts(db: Db): Knex.QueryBuilder<object, Named[]> {
    const columns: Columns<Named> = {
        userId: 'u.id',
        email: 'u.email',
        isVerified: db.raw('u.verified_at is not null'),
        isSuspended: db.raw('u.suspended_at is not null'),
        createdAt: 'u.created_at',
    };
    return db('users as u')
        .whereNull('u.deleted_at')
        .orderBy([{ column: 'u.created_at', order: 'desc' }, 'u.id'])
        .select(columns);
}

function membersOf(db: Db, workspace: Record<string, string>): Knex.QueryBuilder {
    return db('memberships as m').join('workspaces as w', 'w.id', 'm.workspace_id').where(workspace).select('m.user_id');
}

async function withWorkspaces(db: Db, accounts: readonly Named[]): Promise<ListedAccount[]> {
    const rows: (ListedAccount['workspaces'][number] & { userId: string })[] = await db('memberships as m')
        .join('workspaces as w', 'w.id', 'm.workspace_id')
        .whereIn(
            'm.user_id',
            accounts.map(({ userId }) => userId),
        )
        .orderBy(['m.created_at', 'w.id'])
        .select({ userId: 'm.user_id', workspaceId: 'w.id', name: 'w.name', plan: 'w.plan', role: 'm.role' });
    const byUser = Map.groupBy(rows, ({ userId }) => userId);
    return accounts.map((account) => ({
        ...account,
        workspaces: (byUser.get(account.userId) ?? []).map(({ userId: _, ...workspace }) => workspace),
    }));
}
