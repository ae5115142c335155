import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { inviteToWorkspace, MAX_INVITATIONS, withdrawInvitation } from '../../../shared/store/accounts/invitations.ts';
import { tokenOfLink } from '../../../shared/store/accounts/mail-links.ts';
import { LINK_TOKEN, type Mail, queueMail } from '../../../shared/store/accounts/mails.ts';
import { address, waitText } from '../account/fields.ts';
import { oneOf, type Reader, readFields } from '../fields.ts';
import { type Answer, pageNotFound, type WorkspaceVisit } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { rolesToGive, showWorkspace } from './show.ts';

/** Creates an invitation: a mail to the only address that may use it, or a link for anyone. Only a confirmed address may invite. */
export async function invite(visit: WorkspaceVisit): Promise<Answer> {
    const { app, me, workspace, fields, client } = visit;
    if (!me.isVerified) return showWorkspace(visit, { invite: { '': 'Confirm your email address first.' } });
    const read = readFields(fields, { email: optional(address), role: oneOf(rolesToGive(workspace.role)) });
    if (!read.ok) return showWorkspace(visit, { invite: read.problems });
    const { email, role } = read.values;
    const wait = await takeAttempts(app.db, [
        ['invitation by user', me.userId],
        ...(email === undefined
            ? []
            : ([
                  ['invitation by address', email.normalised],
                  ['foreign mail by user', me.userId],
                  ['foreign mail by client', client],
              ] as const)),
    ]);
    if (wait > 0) return showWorkspace(visit, { invite: { '': `Too many invitations. Try again in ${waitText(wait)}.` } });
    const invited = await app.db.transaction(async (trx) => {
        const { workspaceId } = workspace;
        const made = await inviteToWorkspace(trx, { workspaceId, role, email, by: me.userId });
        if (!made.ok) return made;
        const details = { role, address: email?.address ?? null };
        await recordVisit(trx, visit, { workspaceId, action: 'member.invited', target: email?.address ?? 'anyone with the link', details });
        if (email === undefined) return made;
        const about = { workspace: workspace.name, role, by: me.email };
        await queueMail(trx, app.secrets, workspaceMail(email.address, app.publicUrl(), { ...about, linkId: made.linkId }));
        return made;
    });
    if (!invited.ok) {
        const full = `You can have at most ${MAX_INVITATIONS} pending invitations.`;
        return showWorkspace(visit, { invite: { '': invited.why === 'full' ? full : 'Your role no longer allows this.' } });
    }
    visit.hurryMail();
    const url = `${app.publicUrl()}/invite/${await tokenOfLink(app.secrets, invited.linkId)}`;
    return showWorkspace(visit, {}, { url, address: email?.address, isMailed: app.config.mail.smtpUrl !== undefined });
}

export async function withdrawByForm(visit: WorkspaceVisit): Promise<Answer> {
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
}

function optional<T>(reader: Reader<T>): Reader<T | undefined> {
    return (text) => (text.trim() === '' ? { ok: true, value: undefined } : reader(text));
}

/** An invitation to a workspace. Names are quoted, since users choose them. @param linkId the link works once, within a week */
function workspaceMail(
    to: string,
    publicUrl: string,
    { workspace, role, by, linkId }: { workspace: string; role: string; by: string; linkId: string },
): Mail {
    return {
        to,
        linkId,
        subject: 'You are invited to a workspace',
        text: `${by} invites you to join the workspace "${workspace}" on Routebook with the role ${role}.

Open this link to join. It works once, for this address only, and expires in a week.

${publicUrl}/invite/${LINK_TOKEN}

If you do not know this person, ignore this email.
`,
    };
}
