import { ROLES } from '../../../shared/domain/accounts/roles.ts';
import { resembles } from '../../../shared/domain/site/look-alike.ts';
import { withdrawInvitation } from '../../../shared/store/accounts/invitations.ts';
import { selectWorkspace } from '../../../shared/store/accounts/user-sessions.ts';
import { addWorkspace, changeRole, MAX_WORKSPACES, removeMember, renameWorkspace } from '../../../shared/store/accounts/workspaces.ts';
import { line, oneOf, type Reader, readFields } from '../fields.ts';
import { MANAGERS, MEMBERS, pageNotFound, personalPage, type WorkspaceVisit, workspacePage } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { invite } from './invite.ts';
import { faultText, showWorkspace } from './show.ts';

/** Reads a workspace name. Sites' cards show it, so it must not look like Routebook's own workspace. */
const workspaceName: Reader<string> = (text) => {
    const read = line({ minLength: 2, maxLength: 60 })(text);
    return read.ok && resembles(read.value, 'Routebook')
        ? { ok: false, problem: 'Choose another name. This one could be mistaken for Routebook.' }
        : read;
};

/** Pages of workspaces, members and their roles. */
export const workspacePages = [
    personalPage({ method: 'GET', path: '/dashboard/workspace', respond: (visit) => showWorkspace(visit, {}) }),
    personalPage({
        method: 'POST',
        path: '/dashboard/workspaces',
        respond: async (visit) => {
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
        },
    }),
    personalPage({
        method: 'POST',
        path: '/dashboard/switch',
        worksWithoutFactor: true,
        respond: async ({ app, me, fields }) => {
            const membership = me.workspaces.find(({ workspaceId }) => workspaceId === fields.get('workspace'));
            if (membership === undefined) throw pageNotFound();
            await selectWorkspace(app.db, me.sessionId, membership.workspaceId);
            return { to: '/dashboard', notice: 'workspace-switched' };
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/rename',
        audience: MANAGERS,
        respond: async (visit) => {
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
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/invitations',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: invite,
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/invitations/{invitation_id}/withdraw',
        audience: MANAGERS,
        respond: async (visit) => {
            const { app, workspace, params } = visit;
            const { workspaceId } = workspace;
            const target = params['invitation_id'] ?? '';
            const isDone = await app.db.transaction(async (trx) => {
                if (!(await withdrawInvitation(trx, workspaceId, target))) return false;
                await recordVisit(trx, visit, { workspaceId, action: 'invitation.withdrawn', target });
                return true;
            });
            if (!isDone) throw pageNotFound();
            return { to: '/dashboard/workspace', notice: 'invitation-withdrawn' };
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/members/{user_id}/role',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: async (visit) => {
            const { app, me, workspace, params, fields } = visit;
            const read = readFields(fields, { role: oneOf(ROLES) });
            if (!read.ok) return showWorkspace(visit, { members: { '': read.problems['role'] ?? '' } });
            const { workspaceId } = workspace;
            const { role } = read.values;
            const userId = params['user_id'] ?? '';
            const done = await app.db.transaction(async (trx) => {
                const changed = await changeRole(trx, { workspaceId, userId, role, by: me.userId });
                const details = { role };
                if (changed.ok) await recordVisit(trx, visit, { workspaceId, action: 'member.role_changed', target: userId, details });
                return changed;
            });
            if (done.ok) return { to: '/dashboard/workspace', notice: 'role-changed' };
            return showWorkspace(visit, { members: { '': faultText(done.fault) } });
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/members/{user_id}/remove',
        audience: MANAGERS,
        respond: async (visit) => {
            const { me, params } = visit;
            const userId = params['user_id'] ?? '';
            const done = await remove(visit, userId);
            if (!done.ok) return showWorkspace(visit, { members: { '': faultText(done.fault) } });
            return { to: '/dashboard/workspace', notice: userId === me.userId ? 'workspace-left' : 'member-removed' };
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/leave',
        audience: MEMBERS,
        respond: async (visit) => {
            const done = await remove(visit, visit.me.userId);
            if (!done.ok) return showWorkspace(visit, { leave: { '': faultText(done.fault) } });
            return { to: '/dashboard/workspace', notice: 'workspace-left' };
        },
    }),
];

/** Removes a member from the workspace. Members who remove themselves leave it. */
async function remove(visit: WorkspaceVisit, userId: string): ReturnType<typeof removeMember> {
    const { app, me, workspace } = visit;
    const { workspaceId } = workspace;
    return app.db.transaction(async (trx) => {
        const done = await removeMember(trx, { workspaceId, userId, by: me.userId });
        const action = userId === me.userId ? 'member.left' : 'member.removed';
        if (done.ok) await recordVisit(trx, visit, { workspaceId, action, target: userId });
        return done;
    });
}
