import { counted } from '../../../shared/domain/text/counted.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { listMovements, type Movement, type StatementPlace, statementAccounts } from '../../../shared/store/usage/statement-report.ts';
import { type Cell, csvFile } from '../csv.ts';
import type { Download } from '../download.ts';
import { BILLING_VIEWERS, pageNotFound, type Shown, USERS, type WorkspaceVisit } from '../page.ts';
import { addressOf } from '../read-api.ts';
import { seesAll } from './scope.ts';

/** Entries per page, few enough for a phone. */
const SHOWN_MOVEMENTS = 12;
const PATH = '/dashboard/statement';

/** Shows the remaining credits, the next reset, and the ledger entries. */
export async function showStatement(visit: WorkspaceVisit): Promise<Shown> {
    const { app, workspace, query } = visit;
    // Read the balance first, since this also starts a new period if the last one has ended.
    const balance = await app.credits.balance(workspace.accountId);
    const cursor = query('cursor');
    const before = cursor === undefined ? undefined : placeOf(await app.cursors.open(cursorScope(visit), cursor));
    const { movements, next } = mayRead(visit)
        ? await listMovements(app.browse, await accountsOf(visit), { limit: SHOWN_MOVEMENTS, before })
        : { movements: [], next: undefined };
    return {
        view: 'usage/statement',
        title: 'Statement',
        model: {
            balance,
            plan: workspace.plan,
            mayRead: mayRead(visit),
            newest: before && PATH,
            movements: movements.map((movement) => ({ ...movement, reason: reasonOf(movement), call: callOf(visit, movement) })),
            older: next && addressOf(PATH, { cursor: await app.cursors.seal(cursorScope(visit), [...next]) }),
        },
    };
}

export async function downloadStatement(visit: WorkspaceVisit): Promise<Download> {
    if (!mayRead(visit)) throw pageNotFound();
    const accounts = await accountsOf(visit);
    const heads = ['id', 'at', 'kind', 'reason', 'site', 'endpoint', 'call', 'batch', 'items', 'change', 'held_change', 'balance'];
    return csvFile<StatementPlace>('routebook-statement.csv', heads, async (page) => {
        const { movements, next } = await listMovements(visit.app.browse, accounts, page);
        return { rows: movements.map(cellsOf), next };
    });
}

function cellsOf(movement: Movement): Cell[] {
    const { id, at, kind, site, endpoint, operation, batchId, items, availableDelta, heldDelta, balance } = movement;
    return [id, at, kind, reasonOf(movement), site, endpoint, operation, batchId, items, availableDelta, heldDelta, balance];
}

/** The accounts of the statement. After a change of plan another account pays, but the statement continues. */
function accountsOf({ app, me, workspace }: WorkspaceVisit): Promise<string[]> {
    return statementAccounts(app.browse, { accountId: workspace.accountId, userId: me.userId, workspaceId: workspace.workspaceId });
}

/** Whether the visitor may read the statement. On Free it is their own; others are only for roles that may see payments. */
function mayRead({ workspace }: WorkspaceVisit): boolean {
    return workspace.plan === 'free' || BILLING_VIEWERS.includes(workspace.role);
}

/** The URL of a call in the request log, or of the batch of items. Undefined if the visitor cannot see it there. */
function callOf(visit: WorkspaceVisit, { operation, batchId, workspaceId }: Movement): string | undefined {
    const { workspace } = visit;
    const isHere = workspaceId === workspace.workspaceId && USERS.includes(workspace.role);
    if (isHere && batchId !== null) return `/dashboard/jobs/batches/${batchId}`;
    const isOwn = workspace.plan === 'free' || seesAll(visit);
    return isHere && isOwn && operation !== null ? addressOf('/dashboard/usage/calls', { call: operation }) : undefined;
}

function cursorScope({ workspace }: WorkspaceVisit): Json {
    return ['statement', workspace.accountId];
}

function placeOf(place: Json | undefined): StatementPlace | undefined {
    if (!Array.isArray(place)) return undefined;
    const [id, balances] = place;
    return typeof id === 'number' && typeof balances === 'object' ? [id, balances as StatementPlace[1]] : undefined;
}

/** Describes why credits moved. Leaves out account ids in notes, since they are internal. */
function reasonOf({ kind, note, items, availableDelta, heldDelta }: Movement): string {
    const forItems = items === null ? '' : ` for ${counted(items, 'item')} of a batch`;
    switch (kind) {
        case 'grant':
            return note?.startsWith('limit') ? 'Allowance raised' : 'Monthly allowance';
        case 'expire':
            if (note?.startsWith('limit')) return 'Allowance lowered';
            return note?.includes('not renewed') ? 'Unused allowance expired: plan not renewed' : 'Unused allowance expired';
        case 'hold':
            return `Held${forItems || ' for a call'}`;
        case 'charge':
            return `Charged ${-(availableDelta + heldDelta)}${forItems}`;
        case 'release':
            return `Released${forItems}: not billed`;
        case 'lapse':
            return 'Released after its billing period ended';
        case 'first_fetch':
            return 'Bonus for the first call';
        case 'referral':
            return 'Bonus for an invitation';
        case 'contribution':
            return `Bonus for the schema of ${note ?? 'a site'}`;
        case 'reclaim':
            return `Bonus for the schema of ${note ?? 'a site'} reversed: site blocked`;
        case 'move':
            return availableDelta < 0 ? 'Bonus moved out with a plan change' : 'Bonus moved in with a plan change';
        default:
            return 'Bonus';
    }
}
