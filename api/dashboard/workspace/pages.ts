import { ROLES, type Role } from '../../../shared/domain/accounts/roles.ts';
import { mayBeReadAs } from '../../../shared/domain/site/look-alike.ts';
import { reorderingProblem } from '../../../shared/domain/text/text-rule.ts';
import type { Db } from '../../../shared/platform/db.ts';
import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { inviteToWorkspace, listInvitations, MAX_INVITATIONS, withdrawInvitation } from '../../../shared/store/accounts/invitations.ts';
import { tokenOfLink } from '../../../shared/store/accounts/mail-links.ts';
import { LINK_TOKEN, type Mail, queueMail } from '../../../shared/store/accounts/mails.ts';
import { selectWorkspace, whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { findUser } from '../../../shared/store/accounts/users.ts';
import {
    changeRole,
    createWorkspace,
    listMembers,
    MAX_WORKSPACES,
    type Member,
    type MemberFault,
    removeMember,
    renameWorkspace,
    roleOf,
} from '../../../shared/store/accounts/workspaces.ts';
import { address, keepTyped, line, oneOf, type Problems, type Reader, readFields, waitText } from '../fields.ts';
import {
    type Answer,
    MANAGERS,
    MEMBERS,
    type PersonalVisit,
    pageNotFound,
    personalPage,
    type Shown,
    type WorkspaceVisit,
    workspacePage,
} from '../page.ts';
import { filterByWords, pageOfArray, pagerOf, searchText } from '../read-api.ts';
import { changeRecorded, recordVisit } from '../record-act.ts';

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
    workspacePage({ ...FORM, path: `${MEMBER}/remove`, respond: (visit) => remove(visit, visit.params['user_id'] ?? '', 'members') }),
    workspacePage({ ...FORM, path: `${BASE}/leave`, audience: MEMBERS, respond: (visit) => remove(visit, visit.me.userId, 'leave') }),
];

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
    owner: 'can do everything, including plans and owners.',
    admin: 'manages members and keys.',
    billing: 'manages plans and payments; cannot make calls.',
    member: 'creates and uses their own keys.',
};

/** The number of members on one page. */
const ROWS = 8;

interface WorkspaceProblems {
    members?: Problems;
    invite?: Problems;
    rename?: Problems;
    leave?: Problems;
    create?: Problems;
    factor?: Problems;
}

/** Shows the selected workspace, or a page without one. `link` is a new invitation, which is shown only once. */
export async function showWorkspace(
    visit: PersonalVisit,
    problems: WorkspaceProblems,
    link?: { url: string; address: string | undefined; notMailed: string | undefined },
): Promise<Shown> {
    const { app, me } = visit;
    const { current: membership } = me;
    const isManager = membership !== undefined && MANAGERS.includes(membership.role);
    const members = membership === undefined ? [] : await listMembers(app.db, membership.workspaceId);
    const invitations = membership === undefined || !isManager ? [] : await listInvitations(app.db, membership.workspaceId);
    // The member whose new role was chosen before the user had to confirm their identity or sign in.
    const memberTyped = /\/members\/([^/]+)\/role$/.exec(visit.form ?? '')?.[1];
    const typedAt = members.findIndex(({ userId }) => userId === memberTyped);
    const cursor = typedAt < 0 ? visit.query('cursor') : String(typedAt - (typedAt % ROWS));
    const q = searchText(visit.query('q'));
    const { items, next } = pageOfArray(
        filterByWords(members, q, ({ email, role }) => [email, role]),
        cursor,
        ROWS,
    );
    const owners = members.filter(({ role }) => role === 'owner').length;
    return {
        view: 'workspace/workspace',
        title: 'Workspace',
        model: {
            membership,
            members: items,
            q,
            isSearched: members.length > ROWS,
            ...pagerOf(BASE, { q }, { cursor, next }),
            invitations,
            isManager,
            problems,
            link,
            typed: keepTyped(visit.fields),
            memberTyped,
            /** The path of the form to which the typed values belong. */
            sentTo: visit.form,
            isLastOwner: membership?.role === 'owner' && owners === 1,
            everyRole: ROLES.map((value) => ({ value, words: ROLE_WORDS[value] })),
            roles: rolesToGive(membership?.role).map((value) => ({ value, label: value })),
            mayChange: (member: Member) => membership?.role === 'owner' || (member.role !== 'owner' && member.userId !== me.userId),
        },
    };
}

/** The roles that a member may give to others. Only owners may make somebody an owner. */
function rolesToGive(role: Role | undefined): readonly Role[] {
    return role === 'owner' ? ROLES : ROLES.filter((given) => given !== 'owner');
}

/** Says why a change was not made. @throws Refusal NOT_FOUND for an unknown member. */
function faultText(fault: MemberFault): string {
    if (fault === 'absent') throw pageNotFound();
    return fault === 'last-owner'
        ? 'A workspace needs at least one owner. Make someone else an owner first.'
        : 'Only owners can change owners.';
}

/** A web address that mail programs turn into a link. A bare domain is allowed, since it may be a company's name. */
const WEB_ADDRESS = /:\/\/|\bwww\.|\.\p{L}{2,}(?::\d+)?[/?]/iu;

/**
 * Reads a workspace name. Sites' cards show it, so it must not look like Routebook's own workspace. Invitations name it to strangers, who
 * must not be led elsewhere by our mail.
 */
const workspaceName: Reader<string> = (text) => {
    const read = line({ minLength: 2, maxLength: 60 })(text);
    if (!read.ok) return read;
    const problem = reorderingProblem(read.value);
    if (problem !== undefined) return { ok: false, problem };
    if (WEB_ADDRESS.test(read.value)) return { ok: false, problem: 'Choose a name without a web address.' };
    return mayBeReadAs(read.value, 'Routebook')
        ? { ok: false, problem: 'Choose another name. This one could be mistaken for Routebook.' }
        : read;
};

async function createWorkspaceByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields } = visit;
    const read = readFields(fields, { name: workspaceName });
    if (!read.ok) return showWorkspace(visit, { create: read.problems });
    const { name } = read.values;
    const workspaceId = await app.db.transaction(async (trx) => {
        const made = await createWorkspace(trx, me.userId, name);
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
}

async function switchWorkspace({ app, me, fields }: PersonalVisit): Promise<Answer> {
    const membership = me.workspaces.find(({ workspaceId }) => workspaceId === fields.get('workspace'));
    if (membership === undefined) throw pageNotFound();
    await selectWorkspace(app.db, me.sessionId, membership.workspaceId);
    return { to: '/dashboard', notice: 'workspace-switched' };
}

async function renameWorkspaceByForm(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, { name: workspaceName });
    if (!read.ok) return showWorkspace(visit, { rename: read.problems });
    const { workspaceId, name: from } = visit.workspace;
    const { name } = read.values;
    const act = { action: 'workspace.renamed', target: workspaceId, details: { from, to: name } } as const;
    await changeRecorded(visit, act, (trx) => renameWorkspace(trx, workspaceId, name));
    return { to: '/dashboard/workspace', notice: 'workspace-renamed' };
}

async function changeRoleByForm(visit: WorkspaceVisit): Promise<Answer> {
    const { app, me, workspace, params, fields } = visit;
    const read = readFields(fields, { role: oneOf(ROLES) });
    if (!read.ok) return showWorkspace(visit, { members: { '': read.problems['role'] ?? '' } });
    const { workspaceId } = workspace;
    const { role } = read.values;
    const userId = params['user_id'] ?? '';
    const done = await whileSignedIn(app.db, me, async (trx) => {
        const former = await roleOf(trx, workspaceId, userId);
        const changed = await changeRole(trx, { workspaceId, userId, role, by: me.userId });
        const details = { role };
        if (changed.ok) await recordVisit(trx, visit, { workspaceId, action: 'member.role_changed', target: userId, details });
        if (changed.ok && former === 'owner' && role !== 'owner')
            await tellMember(trx, visit, userId, (name) => `Your role in the workspace ${name} is now ${role}`);
        return changed;
    });
    if (!done.ok) return showWorkspace(visit, { members: { '': faultText(done.fault) } });
    visit.hurryMail();
    return { to: '/dashboard/workspace', notice: 'role-changed' };
}

/** Mails a member who loses rights, since a thief in another owner's session may take a workspace in this way. */
async function tellMember(trx: Db, { app, me, workspace }: WorkspaceVisit, userId: string, said: (name: string) => string): Promise<void> {
    const member = await findUser(trx, userId);
    // An unconfirmed address may belong to a stranger.
    if (userId === me.userId || member === undefined || member.verifiedAt === null) return;
    const name = inQuotes(workspace.name);
    await queueMail(trx, app.secrets, {
        to: member.email,
        subject: 'Your access to a workspace changed',
        text: `${said(name)}. This was done by ${me.email}.

If you did not expect this, ask them, or the operator of this service.
`,
    });
}

/** Removes a member, or the visitor. @param form the form that shows why nobody was removed */
async function remove(visit: WorkspaceVisit, userId: string, form: 'members' | 'leave'): Promise<Answer> {
    const { app, me, workspace } = visit;
    const { workspaceId } = workspace;
    const isLeaving = userId === me.userId;
    const done = await whileSignedIn(app.db, me, async (trx) => {
        const removed = await removeMember(trx, { workspaceId, userId, by: me.userId });
        const action = isLeaving ? 'member.left' : 'member.removed';
        if (!removed.ok) return removed;
        await recordVisit(trx, visit, { workspaceId, action, target: userId });
        if (!isLeaving) await tellMember(trx, visit, userId, (name) => `You were removed from the workspace ${name}`);
        return removed;
    });
    if (!done.ok) return showWorkspace(visit, { [form]: { '': faultText(done.fault) } });
    visit.hurryMail();
    return { to: '/dashboard/workspace', notice: isLeaving ? 'workspace-left' : 'member-removed' };
}

/** Creates an invitation: a mail to the only address that may use it, or a link for anyone. Only a confirmed address may invite. */
async function invite(visit: WorkspaceVisit): Promise<Answer> {
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
                  ['foreign mail by user', me.userId],
                  ['foreign mail by client', client],
              ] as const)),
    ]);
    if (wait > 0) return showWorkspace(visit, { invite: { '': `Too many invitations. Try again in ${waitText(wait)}.` } });
    // Strangers may have used up the mails to the address. They must not keep anybody from inviting it.
    const mayMail = email !== undefined && (await takeAttempts(app.db, [['invitation by address', email.normalised]])) === 0;
    const invited = await whileSignedIn(app.db, me, async (trx) => {
        const { workspaceId } = workspace;
        const made = await inviteToWorkspace(trx, { workspaceId, role, email, by: me.userId });
        if (!made.ok) return made;
        const details = { role, address: email?.address ?? null };
        await recordVisit(trx, visit, { workspaceId, action: 'member.invited', target: email?.address ?? 'anyone with the link', details });
        if (email === undefined || !mayMail) return made;
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
    const notMailed = mayMail ? 'No mail server is set up here.' : 'This address was mailed three invitations today, which is the limit.';
    const isMailed = mayMail && app.config.mail.smtpUrl !== undefined;
    return showWorkspace(visit, {}, { url, address: email?.address, notMailed: isMailed ? undefined : notMailed });
}

async function withdrawByForm(visit: WorkspaceVisit): Promise<Answer> {
    const target = visit.params['invitation_id'] ?? '';
    const withdraw = (trx: Db) => withdrawInvitation(trx, visit.workspace.workspaceId, target);
    if (!(await changeRecorded(visit, { action: 'invitation.withdrawn', target }, withdraw))) throw pageNotFound();
    return { to: '/dashboard/workspace', notice: 'invitation-withdrawn' };
}

function optional<T>(reader: Reader<T>): Reader<T | undefined> {
    return (text) => (text.trim() === '' ? { ok: true, value: undefined } : reader(text));
}

/** Users choose the name of a workspace, so it must not close the quotation marks. */
export function inQuotes(name: string): string {
    return `"${name.replaceAll('"', "'")}"`;
}

/** An invitation to a workspace. @param linkId the link works once, within a week */
function workspaceMail(
    to: string,
    publicUrl: string,
    { workspace, role, by, linkId }: { workspace: string; role: string; by: string; linkId: string },
): Mail {
    return {
        to,
        linkId,
        subject: 'You are invited to a workspace',
        text: `${by} invites you to join the workspace ${inQuotes(workspace)} on Routebook with the role ${role}.

Open this link to join. It works once, for this address only, and expires in a week.

${publicUrl}/invite/${LINK_TOKEN}

If you do not know this person, ignore this email.
`,
    };
}
