import { MANAGERS, MEMBERS, personalPage, workspacePage } from '../page.ts';
import { invite, withdrawByForm } from './invite.ts';
import { changeRoleByForm, leaveWorkspace, removeMemberByForm } from './members.ts';
import { createWorkspaceByForm, renameWorkspaceByForm, switchWorkspace } from './settings.ts';
import { showWorkspace } from './show.ts';

const BASE = '/dashboard/workspace';
const MEMBER = `${BASE}/members/{user_id}` as const;
const FORM = { method: 'POST', audience: MANAGERS } as const;
const CONFIRMED_FORM = { ...FORM, needsRecentSignIn: true } as const;

export const workspacePages = [
    personalPage({ method: 'GET', path: BASE, respond: (visit) => showWorkspace(visit, {}) }),
    personalPage({ method: 'POST', path: '/dashboard/workspaces', respond: createWorkspaceByForm }),
    personalPage({ method: 'POST', path: '/dashboard/switch', worksWithoutFactor: true, respond: switchWorkspace }),
    workspacePage({ ...FORM, path: `${BASE}/rename`, respond: renameWorkspaceByForm }),
    workspacePage({ ...CONFIRMED_FORM, path: `${BASE}/invitations`, respond: invite }),
    workspacePage({ ...FORM, path: `${BASE}/invitations/{invitation_id}/withdraw`, respond: withdrawByForm }),
    workspacePage({ ...CONFIRMED_FORM, path: `${MEMBER}/role`, respond: changeRoleByForm }),
    workspacePage({ ...FORM, path: `${MEMBER}/remove`, respond: removeMemberByForm }),
    workspacePage({ method: 'POST', path: `${BASE}/leave`, audience: MEMBERS, respond: leaveWorkspace }),
];
