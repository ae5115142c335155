import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Membership, SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { type Page, pageNotFound, type Sent, type Visit } from './page.ts';

/** The page for users who lack a required second factor. */
export const SET_UP_FACTOR: Sent = { to: '/dashboard/settings/factors' };

/**
 * Checks whether a visitor may open a page. Returns undefined if so, or a redirect to the page that must be visited first.
 * @throws Refusal NOT_FOUND if the page does not exist for this visitor, FORBIDDEN if the role does not allow it.
 */
export function authorize({ audience, worksWithoutFactor }: Page, visit: Visit): Sent | undefined {
    if (worksWithoutFactor !== true && isFactorMissing(visit)) return SET_UP_FACTOR;
    if (audience === 'anyone') return undefined;
    const { me } = visit;
    // Only operators may learn that this page exists.
    if (audience === 'operator' && !visit.isOperator) throw pageNotFound();
    if (me === undefined) return { to: `/login?next=${encodeURIComponent(visit.path)}` };
    if (me.isSuspended) throw new Refusal('FORBIDDEN', 'This account is suspended. Contact the operator of this service.');
    if (typeof audience === 'string') return undefined;
    if (me.current === undefined) return { to: '/dashboard/workspace' };
    if (!audience.includes(me.current.role)) {
        throw new Refusal('FORBIDDEN', `Your role in ${me.current.name} is ${me.current.role}. Ask an owner of the workspace.`);
    }
    return undefined;
}

/** Whether the visitor lacks a required second factor. Operators need one, and workspaces may require one. */
export function isFactorMissing({ me, isOperator }: Visit): boolean {
    return me !== undefined && ((isOperator && !me.hasFactor) || (me.current !== undefined && isLocked(me, me.current)));
}

/** Whether a workspace requires a second factor that the member lacks. Check each workspace that a page shows. */
export function isLocked({ hasFactor }: SignedIn, { demandsFactor }: Membership): boolean {
    return demandsFactor && !hasFactor;
}

/** Characters. The query of an app's authorization request is long: it has the URLs of its document, its redirect and the resource. */
const MAX_PATH = 3000;

/** Returns `text` if it is a path of this site, or else `fallback`: another URL could be an attacker's redirect. */
export function ownPath(text: string | undefined, fallback: string): string {
    return text !== undefined && text.length <= MAX_PATH && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) ? text : fallback;
}

/**
 * Whether the user is an operator: OPERATOR_EMAILS contains their address, and they confirmed it. Only the case of ASCII letters may
 * differ: any other spelling, such as one with a `+tag`, may be another mailbox.
 */
export function isOperator(app: App, me: SignedIn | undefined): boolean {
    if (me === undefined || !me.isVerified) return false;
    return app.config.operatorEmails.some((email) => inLowerCase(email) === inLowerCase(me.email));
}

function inLowerCase(email: string): string {
    return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
