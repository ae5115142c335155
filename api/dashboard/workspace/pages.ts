import { resembles } from '../../../shared/domain/look-alike.ts';
import { withdrawInvitation } from '../../../shared/store/invitations.ts';
import { lookAtWorkspace } from '../../../shared/store/web-sessions.ts';
import { addWorkspace, changeRole, MOST_WORKSPACES, ROLES, removeMember, renameWorkspace } from '../../../shared/store/workspaces.ts';
import { line, oneOf, type Reader, readFields } from '../fields.ts';
import { absent, MANAGERS, MEMBERS, personalPage, workspacePage } from '../page.ts';
import { invite } from './invite.ts';
import { faultText, showWorkspace } from './show.ts';

/** Cards show it, so that it must not pass for Routebook's own workspace. */
const workspaceName: Reader<string> = (text) => {
    const read = line({ least: 2, most: 60 })(text);
    return read.ok && resembles(read.value, 'Routebook')
        ? { ok: false, problem: 'Choose another name: this one may be taken for Routebook itself.' }
        : read;
};

/** Who works where, and who may do what there. */
export const workspacePages = [
    personalPage({ method: 'GET', path: '/dashboard/workspace', respond: (visit) => showWorkspace(visit, {}) }),
    personalPage({
        method: 'POST',
        path: '/dashboard/workspaces',
        respond: async (visit) => {
            const { app, me, fields } = visit;
            const read = readFields(fields, { name: workspaceName });
            if (!read.ok) return showWorkspace(visit, { create: read.problems });
            const workspaceId = await addWorkspace(app.db, me.userId, read.values.name);
            if (workspaceId === undefined) {
                return showWorkspace(visit, { create: { '': `You are in ${MOST_WORKSPACES} workspaces already, which is the most.` } });
            }
            await lookAtWorkspace(app.db, me.sessionId, workspaceId);
            return { to: '/dashboard/workspace', notice: 'workspace-made' };
        },
    }),
    personalPage({
        method: 'POST',
        path: '/dashboard/switch',
        worksWithoutFactor: true,
        respond: async ({ app, me, fields }) => {
            const seat = me.workspaces.find(({ workspaceId }) => workspaceId === fields.get('workspace'));
            if (seat === undefined) throw absent();
            await lookAtWorkspace(app.db, me.sessionId, seat.workspaceId);
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
            await renameWorkspace(visit.app.db, visit.workspace.workspaceId, read.values.name);
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
        respond: async ({ app, workspace, params }) => {
            const isDone = await withdrawInvitation(app.db, workspace.workspaceId, params['invitation_id'] ?? '');
            if (!isDone) throw absent();
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
            const done = await changeRole(app.db, {
                workspaceId: workspace.workspaceId,
                userId: params['user_id'] ?? '',
                role: read.values.role,
                by: me.userId,
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
            const { app, me, workspace, params } = visit;
            const userId = params['user_id'] ?? '';
            const done = await removeMember(app.db, { workspaceId: workspace.workspaceId, userId, by: me.userId });
            if (!done.ok) return showWorkspace(visit, { members: { '': faultText(done.fault) } });
            return { to: '/dashboard/workspace', notice: userId === me.userId ? 'workspace-left' : 'member-removed' };
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/leave',
        audience: MEMBERS,
        respond: async (visit) => {
            const { app, me, workspace } = visit;
            const done = await removeMember(app.db, { workspaceId: workspace.workspaceId, userId: me.userId, by: me.userId });
            if (!done.ok) return showWorkspace(visit, { leave: { '': faultText(done.fault) } });
            return { to: '/dashboard/workspace', notice: 'workspace-left' };
        },
    }),
];
