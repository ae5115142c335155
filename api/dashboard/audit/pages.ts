import type { AuditEntry } from '../../../shared/contracts/audit.ts';
import { ACT_NAMES, ACTS, type Act } from '../../../shared/domain/accounts/acts.ts';
import { listedKeys } from '../../../shared/store/accounts/api-keys.ts';
import { listMembers } from '../../../shared/store/accounts/workspaces.ts';
import { MANAGERS, type Shown, type WorkspaceVisit, workspacePage } from '../page.ts';
import { factsOf } from './facts.ts';

const PATH = '/dashboard/audit';
const ROWS = 12;

/** The audit log of the workspace, for its owners and admins. */
export const auditPages = [workspacePage({ method: 'GET', path: PATH, audience: MANAGERS, respond: showAudit })];

async function showAudit(visit: WorkspaceVisit): Promise<Shown> {
    const { query } = visit;
    const action = ACT_NAMES.find((name) => name === query('action'));
    const filter: Record<string, string> = action === undefined ? {} : { action };
    const [page, names] = await Promise.all([readPage(visit, filter), namesOfActors(visit)]);
    const { acts, next } = page;
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
            newest: query('cursor') === undefined ? undefined : `${PATH}?${new URLSearchParams(filter)}`,
            older: next === null ? undefined : `${PATH}?${new URLSearchParams({ ...filter, cursor: next })}`,
        },
    };
}

/** Reads a page of the audit log. If the cursor is invalid, starts at the newest entry. */
async function readPage(visit: WorkspaceVisit, filter: Record<string, string>): Promise<{ acts: AuditEntry[]; next: string | null }> {
    const ask = (more: Record<string, string>) =>
        visit.ask({
            method: 'GET',
            path: `/v1/audit?${new URLSearchParams({ ...filter, ...more, limit: String(ROWS) })}`,
        });
    const cursor = visit.query('cursor');
    const asked = await ask(cursor === undefined ? {} : { cursor });
    const answer = asked.ok ? asked : await ask({});
    if (!answer.ok) throw new Error(`the audit answered ${answer.refused.code}`);
    const { data, meta } = answer.body as { data: AuditEntry[]; meta: { pagination: { next_cursor: string | null } } };
    return { acts: data, next: meta.pagination.next_cursor };
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
