import { Refusal } from '../../shared/refusals.ts';
import type { Membership, SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { type Page, pageNotFound, type Sent, type Visit } from './page.ts';

/** Where somebody goes who lacks a second factor that is demanded. */
export const SET_UP_FACTOR: Sent = { to: '/dashboard/settings/factors' };

/**
 * Whether a page is for this visitor: undefined, or where the visitor has to go first.
 * @throws Refusal NOT_FOUND where the page does not exist for this visitor, FORBIDDEN where the role does not allow it.
 */
export function authorize({ audience, method, worksWithoutFactor }: Page, visit: Visit): Sent | undefined {
    if (worksWithoutFactor !== true && isFactorMissing(visit)) return SET_UP_FACTOR;
    if (audience === 'anyone') return undefined;
    const { me } = visit;
    // Only operators may learn that this page exists.
    if (audience === 'operator' && !visit.isOperator) throw pageNotFound();
    if (me === undefined) return { to: method === 'GET' ? `/login?next=${encodeURIComponent(visit.path)}` : '/login' };
    if (me.isSuspended) throw new Refusal('FORBIDDEN', 'This account is suspended. Contact the operator of this service.');
    if (typeof audience === 'string') return undefined;
    if (me.current === undefined) return { to: '/dashboard/workspace' };
    if (!audience.includes(me.current.role)) {
        throw new Refusal('FORBIDDEN', `Your role in ${me.current.name} is ${me.current.role}. Ask an owner of the workspace.`);
    }
    return undefined;
}

/** Whether a second factor is demanded of this visitor, as an operator or by the workspace, who has none yet. */
export function isFactorMissing({ me, isOperator }: Visit): boolean {
    return me !== undefined && ((isOperator && !me.hasFactor) || (me.current !== undefined && isLocked(me, me.current)));
}

/**
 * Whether a workspace is closed to its member, who has yet to set up the second factor that it demands. Ask it for every workspace that a
 * page names beside the one looked at.
 */
export function isLocked({ hasFactor }: SignedIn, { demandsFactor }: Membership): boolean {
    return demandsFactor && !hasFactor;
}

/** What an app asks for is long: addresses of its document, of its own and of what it wants to use. */
const MOST_PATH = 3000;

/** A place of our own to go on to; anything else than a plain path of this site is nobody's wish but an attacker's. */
export function ownPath(text: string | undefined, fallback: string): string {
    return text !== undefined && text.length <= MOST_PATH && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) ? text : fallback;
}
