import { dismissNotice, listNotices, type Notice } from '../../../shared/store/accounts/notices.ts';
import { type Answer, BILLING_VIEWERS, MANAGERS, pageNotFound, type WorkspaceVisit } from '../page.ts';

/** Notices about credits, failing calls and payment. */
export function noticesOf({ app, me, workspace }: Pick<WorkspaceVisit, 'app' | 'me' | 'workspace'>): Promise<Notice[]> {
    return listNotices(app.db, {
        accountId: workspace.accountId,
        workspaceId: workspace.workspaceId,
        userId: me.userId,
        seesKeys: MANAGERS.includes(workspace.role),
        seesPlans: BILLING_VIEWERS.includes(workspace.role),
    });
}

/** Dismisses a notice. @throws Refusal NOT_FOUND if this member cannot see the notice */
export async function dismissByForm(visit: WorkspaceVisit): Promise<Answer> {
    const notice = (await noticesOf(visit)).find(({ noticeId }) => noticeId === visit.fields.get('notice'));
    if (notice === undefined) throw pageNotFound();
    await dismissNotice(visit.app.db, notice.noticeId);
    return { to: '/dashboard' };
}
