import type { App } from '../../shared/app.ts';
import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';

/**
 * Whether the user is an operator: OPERATOR_EMAILS contains their address, and they confirmed it. Only the case of ASCII letters may differ:
 * any other spelling, such as one with a `+tag`, may be another mailbox.
 */
export function isOperator(app: App, me: SignedIn | undefined): boolean {
    if (me === undefined || !me.isVerified) return false;
    return app.config.operatorEmails.some((email) => inLowerCase(email) === inLowerCase(me.email));
}

function inLowerCase(email: string): string {
    return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
