import { Refusal } from '../../shared/refusals.ts';
import type { Membership, SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { type Page, pageNotFound, type Sent, type Visit } from './page.ts';

/** The page for users who lack a required second factor. */
export const SET_UP_FACTOR: Sent = { to: '/dashboard/settings/factors' };

/**
 * Checks whether a visitor may open a page: undefined, or the page to visit first.
 * @throws Refusal NOT_FOUND if the page does not exist for this visitor, FORBIDDEN if the role does not allow it.
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

/** Whether the visitor lacks a second factor that is required, of operators or by the workspace. */
export function isFactorMissing({ me, isOperator }: Visit): boolean {
    return me !== undefined && ((isOperator && !me.hasFactor) || (me.current !== undefined && isLocked(me, me.current)));
}

/**
 * Whether a workspace is closed to a member who lacks the second factor that it requires. Check it for every workspace that a page shows
 * besides the current one.
 */
export function isLocked({ hasFactor }: SignedIn, { demandsFactor }: Membership): boolean {
    return demandsFactor && !hasFactor;
}

/** The query of an app's request is long: URLs of its document, its redirect and the resource. */
const MOST_PATH = 3000;

/** A path of this site to continue to. Anything else could be an attacker's redirect and is dropped. */
export function ownPath(text: string | undefined, fallback: string): string {
    return text !== undefined && text.length <= MOST_PATH && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) ? text : fallback;
}
