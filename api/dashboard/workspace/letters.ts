import type { Mail } from '../../../shared/store/mails.ts';

/** The invitation to a workspace. Names stand in quotes, since their owners choose them. */
export function workspaceLetter(
    to: string,
    { workspace, role, by, url }: { workspace: string; role: string; by: string; url: string },
): Mail {
    return {
        to,
        subject: 'An invitation to a workspace',
        text: `${by} invites you to work in "${workspace}" at Routebook, as ${role}.

Open this link to join. It works once, within a week, for this address.

${url}

If you do not know who this is, do nothing.
`,
    };
}
