import { LINK_TOKEN, type Mail } from '../../../shared/store/accounts/mails.ts';

/** An invitation to a workspace. Names are quoted, since users choose them. @param linkId the link works once, within a week */
export function workspaceMail(
    to: string,
    publicUrl: string,
    { workspace, role, by, linkId }: { workspace: string; role: string; by: string; linkId: string },
): Mail {
    return {
        to,
        linkId,
        subject: 'You are invited to a workspace',
        text: `${by} invites you to join the workspace "${workspace}" on Routebook as ${role}.

Open this link to join. It works once, for this address only, and expires in a week.

${publicUrl}/invite/${LINK_TOKEN}

If you do not know this person, ignore this email.
`,
    };
}
