/** Lines that a page shows once, after a form was done. A cookie carries their names, so that nobody can make us show other words. */
export const NOTICES = {
    welcome: 'Your account is ready. Make a key, and the first call is a minute away.',
    'signed-out': 'You are signed out.',
    'code-sent': 'The code is on its way.',
    'sign-in-again': 'That took too long: sign in again.',
    'factor-added': 'Your second factor is on.',
    'factor-removed': 'It is removed.',
    'factor-demanded': 'Members need a second factor from now on.',
    'factor-not-demanded': 'Members need no second factor any more.',
    verified: 'Thank you: this address is confirmed.',
    'link-sent': 'The link is on its way. It may take a minute; look into the spam folder too.',
    'password-changed': 'Your password is changed. Everywhere else you are signed out.',
    'password-set': 'Your new password holds. Everywhere else you are signed out.',
    'address-pending': 'Open the link that we sent to the new address; until then the old one holds.',
    'address-changed': 'Your address is changed.',
    'sessions-ended': 'Everywhere else you are signed out.',
    'session-ended': 'That session is ended.',
    'account-deleted': 'Your account is deleted. What you published stays, under the name of its workspace.',
    'key-revoked': 'The key is revoked. Within a second nobody can use it.',
    'scopes-changed': 'The key has its new scopes. They hold within a second.',
    'key-renamed': 'The key has its new name.',
    'workspace-made': 'The workspace is ready, and you are in it.',
    'workspace-renamed': 'The workspace has its new name.',
    'workspace-switched': 'You are in another workspace now.',
    'workspace-left': 'You left the workspace. The keys you made there no longer work.',
    'workspace-joined': 'Welcome: you are a member now.',
    'member-removed': 'The member is out, and the keys made here no longer work.',
    'role-changed': 'The role is changed.',
    'invitation-sent': 'The invitation is on its way.',
    'invitation-withdrawn': 'The invitation is taken back; its link no longer works.',
    'request-made': 'Your request is written down. Publishing a schema for the site fulfils it.',
    'schema-published': 'It is published: calls run it from now on.',
    'schema-unchanged': 'This is what the latest version says already; nothing was published.',
    'version-yanked': 'The version is taken out of use.',
    'version-restored': 'The version may be used again.',
    'maintainer-added': 'That workspace may publish on this domain now.',
    'maintainer-removed': 'That workspace may not publish on this domain any more.',
    'plan-begun': 'Thank you. The plan holds from now on, and its month has begun.',
    'plan-changed': 'It is noted. Until this month ends everything stays as it is.',
    'plan-choose-here': 'There is a subscription already: change it here.',
    'payment-pending': 'Thank you. As soon as Stripe tells us that it is paid, the plan holds; that takes a moment.',
    'cap-set': 'The cap holds within a second.',
    'cap-gone': 'There is no cap any more.',
} as const;

export type Notice = keyof typeof NOTICES;

/** The line behind a name that a cookie carries. */
export function noticeText(name: unknown): string | undefined {
    return typeof name === 'string' && Object.hasOwn(NOTICES, name) ? NOTICES[name as Notice] : undefined;
}
