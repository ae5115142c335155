/** What a workspace's audit records, and how its page says it. */
export const ACTS = {
    'workspace.created': 'created the workspace',
    'workspace.renamed': 'renamed the workspace',
    'workspace.factor_changed': 'changed whether a second factor is demanded',
    'key.created': 'created a key',
    'key.renamed': 'renamed a key',
    'key.scopes_changed': 'changed the scopes of a key',
    'key.rotated': 'rotated a key',
    'key.revoked': 'revoked a key',
    'key.reported': 'reported a leaked key, which was revoked',
    'member.invited': 'invited somebody',
    'member.joined': 'joined',
    'member.role_changed': 'changed the role of a member',
    'member.removed': 'removed a member',
    'member.left': 'left',
    'invitation.withdrawn': 'withdrew an invitation',
    'plan.changed': 'changed the plan',
    'cap.changed': 'changed a spending cap',
    'version.published': 'published a version',
    'version.yanked': 'yanked a version',
    'version.unyanked': 'put a yanked version back',
    'maintainer.added': 'added a maintainer',
    'maintainer.removed': 'removed a maintainer',
    'policy.changed': 'changed what a domain allows',
} as const;

export type Act = keyof typeof ACTS;
export const ACT_NAMES = Object.keys(ACTS) as Act[];
