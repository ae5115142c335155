import type { App } from '../../shared/app.ts';
import { isPathBlocked, mayChangeSite, type StrictestPolicy, secondsUntilAllOpen } from '../../shared/domain/site/site-policy.ts';
import { isDoubtful } from '../../shared/domain/site/stated-effect.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';
import { isPublishedForSite, type VersionOfDomain } from '../../shared/store/registry/trusted-reads.ts';

/** Checks a call against the policies of the site's owner and the operator. @throws Refusal SITE_BLOCKED, SITE_UNAVAILABLE */
export async function judgePolicy(app: App, policy: StrictestPolicy | null, endpoint: Endpoint, version: VersionOfDomain): Promise<void> {
    if (policy === null) return;
    // The publisher matters only for a POST that its author calls a read.
    const isRefused = !policy.writes && mayChangeSite(endpoint, isDoubtful(endpoint) && (await isPublishedForSite(app.db, version)));
    if (isRefused) throw new Refusal('SITE_BLOCKED', "The site's owner or an operator allows no calls that may change it.");
    judgeHours(app, policy);
}

/** @throws Refusal SITE_UNAVAILABLE */
export function judgeHours({ clock }: App, policy: StrictestPolicy): void {
    const retryAfter = secondsUntilAllOpen(policy.hours, clock.now());
    if (retryAfter === 0) return;
    const times = policy.hours.map(({ from, to, timezone }) => `from ${from} to ${to} (${timezone})`).join(' and ');
    throw new Refusal('SITE_UNAVAILABLE', `The site's owner or an operator allows calls ${times} alone.`, { retryAfter });
}

/**
 * @param url the URL of the call @throws Refusal SITE_BLOCKED
 */
export function judgeUrl(policy: StrictestPolicy | null, url: () => string): void {
    if (policy === null || policy.blocked_paths.length === 0 || !isPathBlocked(policy.blocked_paths, url())) return;
    throw new Refusal('SITE_BLOCKED', "The site's owner or an operator does not allow calls of this path.");
}
