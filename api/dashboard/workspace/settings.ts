import { resembles } from '../../../shared/domain/site/look-alike.ts';
import { reorderingProblem } from '../../../shared/domain/text/text-rule.ts';
import { selectWorkspace } from '../../../shared/store/accounts/user-sessions.ts';
import { addWorkspace, MAX_WORKSPACES, renameWorkspace } from '../../../shared/store/accounts/workspaces.ts';
import { line, type Reader, readFields } from '../fields.ts';
import { type Answer, type PersonalVisit, pageNotFound, type WorkspaceVisit } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { showWorkspace } from './show.ts';

/** Reads a workspace name. Sites' cards show it, so it must not look like Routebook's own workspace. */
const workspaceName: Reader<string> = (text) => {
    const read = line({ minLength: 2, maxLength: 60 })(text);
    if (!read.ok) return read;
    const problem = reorderingProblem(read.value);
    if (problem !== undefined) return { ok: false, problem };
    return resembles(read.value, 'Routebook')
        ? { ok: false, problem: 'Choose another name. This one could be mistaken for Routebook.' }
        : read;
};

export async function createWorkspaceByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields } = visit;
    const read = readFields(fields, { name: workspaceName });
    if (!read.ok) return showWorkspace(visit, { create: read.problems });
    const { name } = read.values;
    const workspaceId = await app.db.transaction(async (trx) => {
        const made = await addWorkspace(trx, me.userId, name);
        if (made !== undefined) {
            await recordVisit(trx, visit, { workspaceId: made, action: 'workspace.created', target: made, details: { name } });
        }
        return made;
    });
    if (workspaceId === undefined) {
        return showWorkspace(visit, { create: { '': `You can be in at most ${MAX_WORKSPACES} workspaces.` } });
    }
    await selectWorkspace(app.db, me.sessionId, workspaceId);
    return { to: '/dashboard/workspace', notice: 'workspace-made' };
}

export async function switchWorkspace({ app, me, fields }: PersonalVisit): Promise<Answer> {
    const membership = me.workspaces.find(({ workspaceId }) => workspaceId === fields.get('workspace'));
    if (membership === undefined) throw pageNotFound();
    await selectWorkspace(app.db, me.sessionId, membership.workspaceId);
    return { to: '/dashboard', notice: 'workspace-switched' };
}

export async function renameWorkspaceByForm(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, { name: workspaceName });
    if (!read.ok) return showWorkspace(visit, { rename: read.problems });
    const { workspaceId, name: from } = visit.workspace;
    const { name } = read.values;
    await visit.app.db.transaction(async (trx) => {
        await renameWorkspace(trx, workspaceId, name);
        const details = { from, to: name };
        await recordVisit(trx, visit, { workspaceId, action: 'workspace.renamed', target: workspaceId, details });
    });
    return { to: '/dashboard/workspace', notice: 'workspace-renamed' };
}
