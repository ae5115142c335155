import type { App } from '../../shared/app.ts';
import { isPathBlocked, type SitePolicy, secondsUntilOpen } from '../../shared/domain/site-policy.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';

/**
 * Holds a call against what the site's owner allows. Its author may be anybody: that a POST only reads is believed of a verified version.
 * @throws Refusal SITE_BLOCKED, SITE_UNAVAILABLE
 */
export function judgePolicy({ clock }: App, policy: SitePolicy | null, { effect, method }: Endpoint, isVerified: boolean): void {
    if (policy === null) return;
    const mayWrite = effect === 'write' || (method !== 'GET' && method !== 'HEAD' && !isVerified);
    if (!policy.writes && mayWrite) throw new Refusal('SITE_BLOCKED', "The site's owner allows no calls that may change it.");
    if (policy.hours === null) return;
    const retryAfter = secondsUntilOpen(policy.hours, clock.now());
    if (retryAfter === 0) return;
    const { from, to, timezone } = policy.hours;
    throw new Refusal('SITE_UNAVAILABLE', `The site's owner allows calls from ${from} to ${to} (${timezone}) alone.`, { retryAfter });
}

/** @param url what would be called @throws Refusal SITE_BLOCKED */
export function judgeUrl(policy: SitePolicy | null, url: () => string): void {
    if (policy === null || policy.blocked_paths.length === 0 || !isPathBlocked(policy.blocked_paths, url())) return;
    throw new Refusal('SITE_BLOCKED', "The site's owner does not allow calls of this path.");
}
