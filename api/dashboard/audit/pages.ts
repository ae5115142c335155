import type { AuditEntry } from '../../../shared/contracts/audit.ts';
import { ACT_NAMES, ACTS, type Act } from '../../../shared/domain/accounts/acts.ts';
import { listedKeys } from '../../../shared/store/accounts/api-keys.ts';
import { listMembers } from '../../../shared/store/accounts/workspaces.ts';
import { MANAGERS, type Shown, type WorkspaceVisit, workspacePage } from '../page.ts';
import { type ListPage, pagerOf, readList } from '../read-api.ts';
import { factsOf } from './facts.ts';

const PATH = '/dashboard/audit';
const ROWS = 12;

export const auditPages = [workspacePage({ method: 'GET', path: PATH, audience: MANAGERS, respond: showAudit })];

async function showAudit(visit: WorkspaceVisit): Promise<Shown> {
    const { query } = visit;
    const action = ACT_NAMES.find((name) => name === query('action'));
    const [{ items: acts, next }, names] = await Promise.all([readPage(visit, action), namesOfActors(visit)]);
    return {
        view: 'audit/audit',
        title: 'Audit',
        model: {
            acts: acts.map((act) => ({
                ...act,
                at: new Date(act.at),
                who: names.get(act.actor) ?? act.actor,
                words: ACTS[act.action as Act],
                what: names.get(act.target) ?? act.target,
                facts: factsOf(act),
            })),
            typed: { action },
            actions: [{ value: '', label: 'everything' }, ...ACT_NAMES.map((name) => ({ value: name, label: name }))],
            ...pagerOf(PATH, { action }, { cursor: query('cursor'), next }),
        },
    };
}

/** Reads a page of the audit log. If the cursor is invalid, starts at the newest entry. */
function readPage(visit: WorkspaceVisit, action: string | undefined): Promise<ListPage<AuditEntry>> {
    const read = (cursor?: string) => readList<AuditEntry>(visit, '/v1/audit', { action, cursor, limit: String(ROWS) });
    return read(visit.query('cursor')).catch(() => read());
}

/** Display names by id: the addresses of members and the names of keys. */
async function namesOfActors({ app, workspace: { workspaceId } }: WorkspaceVisit): Promise<ReadonlyMap<string, string>> {
    const [members, keys] = await Promise.all([listMembers(app.db, workspaceId), listedKeys(app.db, workspaceId)]);
    return new Map([
        ...members.map(({ userId, email }) => [userId, email] as const),
        ...keys.map(({ keyId, name }) => [keyId, `the key ${name}`] as const),
        ['operator', 'an operator of this service'],
        ['system', 'Routebook'],
    ]);
}
