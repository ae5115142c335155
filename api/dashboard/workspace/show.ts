import { ROLES, type Role } from '../../../shared/domain/accounts/roles.ts';
import { listInvitations } from '../../../shared/store/accounts/invitations.ts';
import { listMembers, type Member, type MemberFault } from '../../../shared/store/accounts/workspaces.ts';
import { keepTyped, type Problems } from '../fields.ts';
import { MANAGERS, type PersonalVisit, pageNotFound, type Shown } from '../page.ts';

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
    owner: 'can do everything, including plans and owners.',
    admin: 'manages members and keys.',
    billing: 'manages plans and payments; cannot make calls.',
    member: 'creates and uses their own keys.',
};

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
    link?: { url: string; address: string | undefined; isMailed: boolean },
): Promise<Shown> {
    const { app, me } = visit;
    const { current: membership } = me;
    const isManager = membership !== undefined && MANAGERS.includes(membership.role);
    const members = membership === undefined ? [] : await listMembers(app.db, membership.workspaceId);
    const invitations = membership === undefined || !isManager ? [] : await listInvitations(app.db, membership.workspaceId);
    const owners = members.filter(({ role }) => role === 'owner').length;
    return {
        view: 'workspace/workspace',
        title: 'Workspace',
        model: {
            membership,
            members,
            invitations,
            isManager,
            problems,
            link,
            typed: keepTyped(visit.fields),
            /** The member whose new role was chosen before the user had to confirm their identity or sign in. */
            memberTyped: /\/members\/([^/]+)\/role$/.exec(visit.form ?? '')?.[1],
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
export function rolesToGive(role: Role | undefined): readonly Role[] {
    return role === 'owner' ? ROLES : ROLES.filter((given) => given !== 'owner');
}

/** Says why a change was not made. @throws Refusal NOT_FOUND for an unknown member. */
export function faultText(fault: MemberFault): string {
    if (fault === 'absent') throw pageNotFound();
    return fault === 'last-owner'
        ? 'A workspace needs at least one owner. Make someone else an owner first.'
        : 'Only owners can change owners.';
}
