/** Messages that a page shows once after a form was sent. The cookie contains only a name, so that nobody can inject a text. */
const NOTICES = {
    welcome: 'Your account is ready. Create an API key to make your first call.',
    'signed-out': 'You are signed out.',
    confirmed: 'Identity confirmed. Nothing was changed yet.',
    'code-sent': 'We sent you a code.',
    'sign-in-again': 'That took too long. Please sign in again.',
    'ended-meanwhile': 'Nothing was changed because your session ended. Please sign in again.',
    'factor-added': 'Two-factor authentication is on.',
    'factor-removed': 'The second factor is removed.',
    'factor-demanded': 'Members now need two-factor authentication.',
    'factor-not-demanded': 'Members no longer need two-factor authentication.',
    verified: 'Your email address is confirmed.',
    'link-sent': 'We sent you the link. It can take a minute; check your spam folder too.',
    'password-changed': 'Your password is changed. All other sessions are signed out.',
    'password-set': 'Your new password is set. All other sessions are signed out.',
    'address-pending': 'Open the link we sent to your new address. Until then you keep your old one.',
    'address-changed': 'Your email address is changed.',
    'sessions-ended': 'All other sessions are signed out.',
    'session-ended': 'The session is signed out.',
    'account-deleted': 'Your account is deleted. The schemas you published stay, under the name of their workspace.',
    'key-revoked': 'The key is revoked. It stops working within a second.',
    'scopes-changed': 'The key has its new scopes. They take effect within a second.',
    'connection-works': 'The site accepts this connection.',
    'connection-deleted': 'The connection is deleted. No call sends it any more.',
    'connection-lent': 'Connection lent. The next verification run of the site uses it.',
    'connection-not-lent': 'Verification runs no longer use this connection.',
    'redirects-set': 'Redirect URLs saved.',
    connected: 'Connected. Calls can use it now.',
    'key-renamed': 'The key is renamed.',
    'workspace-made': 'Workspace created. You are now in it.',
    'workspace-renamed': 'The workspace is renamed.',
    'workspace-switched': 'Workspace switched.',
    'workspace-left': 'You left the workspace. The keys you created there no longer work.',
    'workspace-joined': 'Welcome! You are now a member.',
    'member-removed': 'Member removed. The keys they created here no longer work.',
    'role-changed': 'Role changed.',
    'invitation-sent': 'Invitation sent.',
    'invitation-withdrawn': 'Invitation revoked. Its link no longer works.',
    'request-made': 'Request received. It is fulfilled when somebody publishes a schema for the site.',
    'schema-published': 'Published. Calls use this version now.',
    'schema-unchanged': 'Nothing was published: this package is identical to the latest version.',
    'version-yanked': 'Version yanked.',
    'version-restored': 'Version restored.',
    'maintainer-added': 'Maintainer added. That workspace can now publish on this domain.',
    'maintainer-removed': 'Maintainer removed. That workspace can no longer publish on this domain.',
    'removal-requested': 'That workspace will be removed in 24 hours unless its owners stop it.',
    'removal-stopped': 'Removal stopped. This workspace still maintains the domain.',
    'claim-made': 'Claim created. Publish its value as shown below, then check it.',
    'claim-open': 'This workspace already has a claim on this domain. Publish its value, then check it.',
    'claim-proved': 'Verified. Your workspace owns this domain.',
    'claim-failed': 'No proof found. See the reason below.',
    'claim-pending': 'The check is still running. Reload this page to see the result.',
    'claim-deleted': 'Claim deleted.',
    'webhook-changed': 'Webhook saved. Events that were not delivered yet go to its URL.',
    'webhook-enabled': 'The webhook is enabled. It receives events from now on.',
    'webhook-disabled': 'The webhook is disabled. Nothing is sent to it.',
    'webhook-sent': 'The event is being sent. Reload this page to see the answer.',
    'webhook-deleted': 'Webhook deleted.',
    'job-cancelled': 'The job is cancelled. It costs nothing.',
    'job-result-deleted': 'The result and the params of the job are deleted.',
    'batch-ordered': 'The batch is created. You can leave this page: the batch continues.',
    'batch-paused': 'The batch is paused. No more items start until you resume it.',
    'batch-resumed': 'The batch continues.',
    'batch-retried': 'These items run again.',
    'batch-cancelled': 'The batch is cancelled. Items that had not started cost nothing.',
    'monitor-added': 'The monitor is added. The first run stores the base value and reports no change.',
    'monitor-runs': 'The monitor runs now. Reload this page to see the result.',
    'monitor-paused': 'The monitor is paused.',
    'monitor-resumed': 'The monitor runs again.',
    'monitor-deleted': 'Monitor deleted, with its runs and changes.',
    'policy-saved': 'Policy saved. It takes effect within a second.',
    'plan-begun-starter': "You're on Starter. Your billing month starts today.",
    'plan-begun-pro': "You're on Pro. Your billing month starts today.",
    'plan-changed': 'Saved. The change takes effect when your billing period ends.',
    'plan-choose-here': 'You already have a subscription. Change it here.',
    'payment-pending': 'Thank you. Your plan starts as soon as Stripe confirms the payment, usually within a minute.',
    'confirmation-set': 'Confirmation price saved. It takes effect within a second.',
    'confirmation-gone': 'Writes with this key no longer need a confirmation.',
    'cap-set': 'Spending cap saved. It takes effect within a second.',
    'cap-gone': 'Spending cap removed.',
} as const;

export type Notice = keyof typeof NOTICES;

/** Notices that something was not done. All others report a success. */
const WARNINGS: ReadonlySet<string> = new Set<Notice>([
    'claim-failed',
    'claim-open',
    'ended-meanwhile',
    'sign-in-again',
    'schema-unchanged',
]);

/** Notices that an email was sent. */
const MAILED: ReadonlySet<string> = new Set<Notice>(['code-sent', 'link-sent', 'address-pending']);

/** Shown instead of them if SMTP_URL is not set. */
export const MAIL_PRINTED = 'No mail server is set up here: the email is printed where Routebook runs.';

/** The message for a name from the cookie, and the class of its colour. */
export function readNotice(name: unknown, hasMailServer: boolean): { text: string; tone: 'good' | 'warn' } | undefined {
    if (typeof name !== 'string' || !Object.hasOwn(NOTICES, name)) return undefined;
    const text = MAILED.has(name) && !hasMailServer ? MAIL_PRINTED : NOTICES[name as Notice];
    return { text, tone: WARNINGS.has(name) ? 'warn' : 'good' };
}
