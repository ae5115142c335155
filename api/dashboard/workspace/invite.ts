import { takeAttempts } from '../../../shared/store/attempts.ts';
import { inviteToWorkspace, MOST_INVITATIONS } from '../../../shared/store/invitations.ts';
import { queueMail } from '../../../shared/store/mails.ts';
import { address, waitText } from '../account/fields.ts';
import { oneOf, type Reader, readFields } from '../fields.ts';
import type { Answer, WorkspaceVisit } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { workspaceLetter } from './letters.ts';
import { rolesToGive, showWorkspace } from './show.ts';

/** Makes an invitation: mailed, and for that address alone, or a link for whoever gets it. It needs a confirmed address. */
export async function invite(visit: WorkspaceVisit): Promise<Answer> {
    const { app, me, workspace, fields, client } = visit;
    if (!me.isVerified) return showWorkspace(visit, { invite: { '': 'Confirm your own address first.' } });
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
    if (wait > 0) return showWorkspace(visit, { invite: { '': `That was many invitations; try again in ${waitText(wait)}.` } });
    const token = await app.db.transaction(async (trx) => {
        const { workspaceId } = workspace;
        const made = await inviteToWorkspace(trx, { workspaceId, role, email, by: me.userId });
        if (made === undefined) return made;
        const details = { role, address: email?.address ?? null };
        await recordVisit(trx, visit, { workspaceId, action: 'member.invited', target: email?.address ?? 'whoever has the link', details });
        if (email === undefined) return made;
        const url = `${app.publicUrl()}/invite/${made}`;
        await queueMail(trx, app.secrets, workspaceLetter(email.address, { workspace: workspace.name, role, by: me.email, url }));
        return made;
    });
    if (token === undefined) return showWorkspace(visit, { invite: { '': `At most ${MOST_INVITATIONS} invitations are open at a time.` } });
    visit.hurryMail();
    return showWorkspace(visit, {}, { url: `${app.publicUrl()}/invite/${token}`, address: email?.address });
}

function optional<T>(reader: Reader<T>): Reader<T | undefined> {
    return (text) => (text.trim() === '' ? { ok: true, value: undefined } : reader(text));
}
