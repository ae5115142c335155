import type { Json } from '../../../shared/domain/types.ts';
import { listMovements, type Movement, type StatementPlace, statementAccounts } from '../../../shared/store/usage/statement-report.ts';
import { csvLine } from '../csv.ts';
import type { Download } from '../download.ts';
import { BILLING_VIEWERS, pageNotFound, type Shown, USERS, type WorkspaceVisit } from '../page.ts';
import { reasonOf } from './reasons.ts';
import { address, seesAll } from './scope.ts';

/** So few that a page of them is short on a phone, too. */
const SHOWN_MOVEMENTS = 12;
const PATH = '/dashboard/statement';
/** Rows of a file at most, and of one statement. */
const FILE_ROWS = 50_000;
const FILE_STEP = 1000;

/** Shows credits left, the next reset, and all ledger entries. */
export async function showStatement(visit: WorkspaceVisit): Promise<Shown> {
    const { app, workspace, query } = visit;
    // First, since it brings a period that has ended up to date.
    const balance = await app.credits.balance(workspace.accountId);
    const cursor = query('cursor');
    const before = cursor === undefined ? undefined : placeOf(await app.cursors.open(cursorScope(visit), cursor));
    const { movements, next } = mayRead(visit)
        ? await listMovements(app.browse, await accountsOf(visit), { most: SHOWN_MOVEMENTS, before })
        : { movements: [], next: undefined };
    return {
        view: 'usage/statement',
        title: 'Statement',
        model: {
            balance,
            plan: workspace.plan,
            mayRead: mayRead(visit),
            isFirst: before === undefined,
            movements: movements.map((movement) => ({ ...movement, reason: reasonOf(movement), call: callOf(visit, movement) })),
            older: next && address(PATH, { cursor: await app.cursors.seal(cursorScope(visit), [...next]) }),
        },
    };
}

/** The movements as a file. */
export async function downloadStatement(visit: WorkspaceVisit): Promise<Download> {
    if (!mayRead(visit)) throw pageNotFound();
    return { file: 'routebook-statement.csv', type: 'text/csv; charset=utf-8', lines: linesOf(visit) };
}

async function* linesOf(visit: WorkspaceVisit): AsyncGenerator<string> {
    yield csvLine(['id', 'at', 'kind', 'reason', 'site', 'endpoint', 'call', 'change', 'held_change', 'balance']);
    const accounts = await accountsOf(visit);
    let before: StatementPlace | undefined;
    for (let left = FILE_ROWS; left > 0; left -= FILE_STEP) {
        const { movements, next } = await listMovements(visit.app.browse, accounts, { most: Math.min(FILE_STEP, left), before });
        yield movements
            .map((movement) => {
                const { id, at, kind, site, endpoint, operation, availableDelta, heldDelta, balance } = movement;
                return csvLine([id, at, kind, reasonOf(movement), site, endpoint, operation, availableDelta, heldDelta, balance]);
            })
            .join('');
        before = next;
        if (before === undefined) return;
    }
}

/** A statement goes on through a change of plan, though another account pays from then on. */
function accountsOf({ app, me, workspace }: WorkspaceVisit): Promise<string[]> {
    return statementAccounts(app.browse, { accountId: workspace.accountId, userId: me.userId, workspaceId: workspace.workspaceId });
}

/** On Free the account is the visitor's own; a workspace's account is for those who keep its books. */
function mayRead({ workspace }: WorkspaceVisit): boolean {
    return workspace.plan === 'free' || BILLING_VIEWERS.includes(workspace.role);
}

/** The place of a call in the log, where this visitor may see it there. */
function callOf(visit: WorkspaceVisit, { operation, workspaceId }: Movement): string | undefined {
    const { workspace } = visit;
    const isHere = workspaceId === workspace.workspaceId && USERS.includes(workspace.role);
    const isOwn = workspace.plan === 'free' || seesAll(visit);
    return isHere && isOwn && operation !== null ? address('/dashboard/usage/calls', { call: operation }) : undefined;
}

function cursorScope({ workspace }: WorkspaceVisit): Json {
    return ['statement', workspace.accountId];
}

function placeOf(place: Json | undefined): StatementPlace | undefined {
    if (!Array.isArray(place)) return undefined;
    const [id, balances] = place;
    return typeof id === 'number' && typeof balances === 'object' ? [id, balances as StatementPlace[1]] : undefined;
}
