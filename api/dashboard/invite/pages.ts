import { MAX_SIGN_UPS_A_DAY } from '../../../shared/domain/accounts/sign-up-origins.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { acceptOffer, findOffer, type Offer } from '../../../shared/store/accounts/invitations.ts';
import { type Mail, queueMail } from '../../../shared/store/accounts/mails.ts';
import { countReferrals, findInviter, inviteCode } from '../../../shared/store/accounts/referrals.ts';
import { type SignedIn, selectWorkspace } from '../../../shared/store/accounts/user-sessions.ts';
import { findCredentials } from '../../../shared/store/accounts/users.ts';
import { notifyOwners } from '../../../shared/store/accounts/workspace-news.ts';
import { BONUSES } from '../../../shared/store/credits/bonuses.ts';
import { address, keepTyped, type Problems, readFields, waitText } from '../fields.ts';
import { type Answer, openPage, type PersonalVisit, personalPage, type Visit, words } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { inQuotes, ROLE_WORDS } from '../workspace/pages.ts';

/** Pages for two kinds of invitation links: a user's own link, which earns credits, and a workspace's link, which lets one person join. */
export const invitePages = [
    personalPage({ method: 'GET', path: '/dashboard/invite', respond: (visit) => mine(visit, {}) }),
    personalPage({ method: 'POST', path: '/dashboard/invite', respond: mailFriend }),
    openPage({ method: 'GET', path: '/invite/{token}', respond: openLink }),
    personalPage({ method: 'POST', path: '/invite/{token}', respond: accept }),
];

const GONE: Answer = {
    ...words('This invitation no longer works', 'It was used or revoked, or it has expired. Ask for a new one.', [
        '/',
        'Go to the home page',
    ]),
    status: 404,
};

/** Shows the offer of a workspace, or lets a friend sign up. */
async function openLink(visit: Visit): Promise<Answer> {
    const token = visit.params['token'] ?? '';
    const offer = await findOffer(visit.app.db, visit.app.secrets, token);
    if (offer !== undefined) return showOffer(visit, offer);
    const inviter = await findInviter(visit.app.db, token);
    if (inviter === undefined) return GONE;
    return { to: visit.me === undefined ? `/signup?invite=${encodeURIComponent(token)}` : '/dashboard' };
}

async function accept(visit: PersonalVisit): Promise<Answer> {
    const { app, me } = visit;
    const token = visit.params['token'] ?? '';
    const offer = await findOffer(app.db, app.secrets, token);
    if (offer === undefined) return GONE;
    if (obstacleFor(me, offer) !== undefined) return showOffer(visit, offer);
    const { workspaceId, role } = offer;
    const done = await app.db.transaction(async (trx) => {
        const accepted = await acceptOffer(trx, app.secrets, { token, userId: me.userId });
        if (accepted !== 'joined') return accepted;
        await recordVisit(trx, visit, { workspaceId, action: 'member.joined', target: me.userId, details: { role } });
        await notifyOwners(trx, {
            workspaceId,
            domain: 'members',
            subject: 'Somebody joined your workspace',
            line: `${me.email} joined your workspace ${inQuotes(offer.workspaceName)} with the role ${role}. If none of you expected this, remove this member: ${app.publicUrl()}/dashboard/workspace`,
        });
        return accepted;
    });
    if (done === 'gone') return GONE;
    if (done === 'too-many') return showOffer(visit, offer, 'You are in too many workspaces. Leave one first.');
    await selectWorkspace(app.db, me.sessionId, offer.workspaceId);
    return { to: '/dashboard', notice: 'workspace-joined' };
}

const NOT_CONFIRMED = 'Confirm your email address before you join.';

function showOffer({ me }: Visit, offer: Offer, obstacle = me === undefined ? undefined : obstacleFor(me, offer)): Answer {
    return {
        view: 'invite/offer',
        title: `Join ${offer.workspaceName}`,
        status: obstacle === undefined ? 200 : 403,
        model: {
            offer,
            words: `this role ${ROLE_WORDS[offer.role]}`,
            obstacle,
            isForAnother: me !== undefined && obstacle === forAnother(me, offer),
            mayVerify: obstacle === NOT_CONFIRMED,
        },
    };
}

const forAnother = (me: SignedIn, { address }: Offer) => `This invitation is for ${address}. You are signed in as ${me.email}.`;

/** Why this person cannot use the invitation now. */
function obstacleFor(me: SignedIn, offer: Offer): string | undefined {
    if (me.workspaces.some(({ workspaceId }) => workspaceId === offer.workspaceId)) return 'You are already a member.';
    if (offer.addressNormalised !== null && offer.addressNormalised !== me.emailNormalised) return forAnother(me, offer);
    return me.isVerified ? undefined : NOT_CONFIRMED;
}

async function mailFriend(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields, client } = visit;
    if (mayNotInvite(visit)) throw new Refusal('EMAIL_NOT_VERIFIED');
    const read = readFields(fields, { email: address });
    if (!read.ok) return mine(visit, read.problems);
    const { email } = read.values;
    const wait = await takeAttempts(app.db, [
        ['foreign mail by user', me.userId],
        ['foreign mail by client', client],
        ['invitation by user', me.userId],
        ['invitation by address', email.normalised],
    ]);
    if (wait > 0) return mine(visit, { email: `Too many invitations. Try again in ${waitText(wait)}.` });
    const url = `${app.publicUrl()}/invite/${await inviteCode(app.db, me.userId)}`;
    // Neither the answer nor its timing may reveal who has an account. People with an account get no mail.
    visit.later(async () => {
        if ((await findCredentials(app.db, email.normalised)) !== undefined) return;
        await queueMail(app.db, app.secrets, friendMail(email.address, me.email, url));
        visit.hurryMail();
    });
    return { to: '/dashboard/invite', notice: 'invitation-sent' };
}

async function mine(visit: PersonalVisit, problems: Problems): Promise<Answer> {
    const { app, me, fields } = visit;
    return {
        view: 'invite/mine',
        title: 'Invite',
        model: {
            problems,
            typed: keepTyped(fields),
            bonuses: BONUSES,
            maxSignUps: MAX_SIGN_UPS_A_DAY,
            link: mayNotInvite(visit) ? '' : `${app.publicUrl()}/invite/${await inviteCode(app.db, me.userId)}`,
            referrals: await countReferrals(app.db, me.userId),
        },
    };
}

/** With a mail server, only users with a confirmed address may invite. */
function mayNotInvite({ app, me }: PersonalVisit): boolean {
    return app.config.mail.smtpUrl !== undefined && !me.isVerified;
}

function friendMail(to: string, by: string, url: string): Mail {
    return {
        to,
        subject: 'An invitation to Routebook',
        text: `${by} invites you to Routebook, a registry of the routes behind websites.

Sign up for free, no card needed:

${url}

This is the only email we send you about this.
`,
    };
}
