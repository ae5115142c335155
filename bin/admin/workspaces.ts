import { figuresFor, type Plan } from '../../shared/domain/accounts/plans.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import { listWorkspaces } from '../../shared/store/accounts/directory.ts';
import { listMembers } from '../../shared/store/accounts/workspaces.ts';
import { readBalance } from '../../shared/store/credits/accounts.ts';
import { ownSites } from '../../shared/store/registry/sites.ts';
import { type Done, fields, table } from './command.ts';
import { presentLimits } from './money.ts';
import { type Operator, workspaceOrFault } from './operator.ts';

const MAX_SITES = 100;

export async function list({ db }: Operator, { plan, limit }: { plan?: Plan; limit: number }): Promise<Done> {
    const workspaces = await listWorkspaces(db, { plan, limit });
    return {
        result: workspaces.map((one) => presentFields(one, 'workspace_id name plan members owner created_at')),
        lines: table(
            ['workspace', 'plan', 'owner', 'name', 'members', 'since'],
            workspaces.map(({ workspaceId, name, plan: on, members, owner, createdAt }) => [
                ...[workspaceId, on, owner, name, members],
                createdAt.toISOString().slice(0, 10),
            ]),
        ),
    };
}

export async function show({ db }: Operator, workspaceId: string): Promise<Done> {
    const workspace = await workspaceOrFault(db, workspaceId);
    const [members, balance, sites] = [
        await listMembers(db, workspaceId),
        await readBalance(db, workspace.accountId),
        await ownSites(db, workspaceId, { limit: MAX_SITES }),
    ];
    const joined = members.map((member) => presentFields(member, 'user_id email role keys'));
    const owned = sites.map(({ site, latest, verifiedAt }) => ({ site, latest, verified: verifiedAt !== null }));
    const figures = figuresFor(workspace.plan, balance?.overrides);
    const shown = {
        workspace_id: workspaceId,
        name: workspace.name,
        plan: workspace.plan,
        account_id: workspace.accountId,
        credits: balance?.available ?? null,
        allowance_left: balance?.allowance.remaining ?? null,
        bonus: balance?.bonus ?? null,
        held: balance?.held ?? null,
        resets_at: balance?.resetsAt.toISOString() ?? null,
        keys: members.reduce((sum, { keys }) => sum + keys, 0),
    };
    return {
        result: { ...shown, limits: presentLimits(figures), members: joined, sites: owned },
        lines: [
            ...fields({ ...shown, per_minute: figures.perMinute, per_day: figures.perDay, concurrency: figures.concurrency }),
            ...['', ...table(['member', 'address', 'role', 'keys'], joined.map(Object.values))],
            ...(owned.length === 0 ? [] : ['', ...table(['site', 'latest', 'verified'], owned.map(Object.values))]),
        ],
    };
}
