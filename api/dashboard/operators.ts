import type { App } from '../../shared/app.ts';
import { readEmail } from '../../shared/domain/accounts/email.ts';
import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';

/** Whether the user is an operator: OPERATOR_EMAILS contains their address, and they confirmed it. */
export function isOperator(app: App, me: SignedIn | undefined): boolean {
    if (me === undefined || !me.isVerified) return false;
    return app.config.operatorEmails.map(readEmail).some((email) => email.ok && email.normalised === me.emailNormalised);
}
