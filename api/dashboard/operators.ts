import type { App } from '../../shared/app.ts';
import { readEmail } from '../../shared/domain/accounts/email.ts';
import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';

/** Whether somebody operates this service: OPERATOR_EMAILS has the address, and its owner proved to read it. */
export function isOperator(app: App, me: SignedIn | undefined): boolean {
    if (me === undefined || !me.isVerified) return false;
    return app.config.operatorEmails.map(readEmail).some((email) => email.ok && email.normalised === me.emailNormalised);
}
