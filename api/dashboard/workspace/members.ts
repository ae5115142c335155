import { ROLES } from '../../../shared/domain/accounts/roles.ts';
import { changeRole, removeMember } from '../../../shared/store/accounts/workspaces.ts';
import { oneOf, readFields } from '../fields.ts';
import type { Answer, WorkspaceVisit } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { faultText, showWorkspace } from './show.ts';

export async function changeRoleByForm(visit: WorkspaceVisit): Promise<Answer> {
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
}

export async function removeMemberByForm(visit: WorkspaceVisit): Promise<Answer> {
    const { me, params } = visit;
    const userId = params['user_id'] ?? '';
    const done = await remove(visit, userId);
    if (!done.ok) return showWorkspace(visit, { members: { '': faultText(done.fault) } });
    return { to: '/dashboard/workspace', notice: userId === me.userId ? 'workspace-left' : 'member-removed' };
}

export async function leaveWorkspace(visit: WorkspaceVisit): Promise<Answer> {
    const done = await remove(visit, visit.me.userId);
    if (!done.ok) return showWorkspace(visit, { leave: { '': faultText(done.fault) } });
    return { to: '/dashboard/workspace', notice: 'workspace-left' };
}

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
