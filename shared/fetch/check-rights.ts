import type { App } from '../app.ts';
import { unconfirmed } from '../domain/accounts/confirm-above.ts';
import { missingScope } from '../domain/accounts/scopes.ts';
import {
    isPathBlocked,
    mayChangeSite,
    readsByUnsafeMethod,
    type StrictestPolicy,
    secondsUntilAllOpen,
} from '../domain/site/site-policy.ts';
import type { Effect, Endpoint } from '../domain/types.ts';
import { Refusal } from '../refusals.ts';
import type { Caller } from '../store/accounts/callers.ts';
import { isPublishedForSite, isTrustedRead, type VersionOfDomain } from '../store/registry/ownership.ts';

/** Checks the effect of an endpoint, as `trustedEffect` finds it, against the scopes of a key. @throws Refusal FORBIDDEN */
export async function checkEffect(app: App, caller: Caller, found: VersionOfDomain & { endpoint: Endpoint }): Promise<void> {
    if (!lacksAnEffect(caller)) return;
    const { effect, method } = found.endpoint;
    const effective = await trustedEffect(app, found);
    if (caller.scopes.listed.effects.includes(effective)) return;
    if (effect === effective) throw missingScope({ part: 'effects', needs: effective });
    const why = `The package calls this ${method} a read, but neither the site's owner nor a verification run confirms it.`;
    throw missingScope({ part: 'effects', needs: 'write' }, why);
}

/**
 * The effect of an endpoint. A POST that is declared a read counts as one only if a workspace speaks for the site, or a verification run
 * called it in this version.
 */
export async function trustedEffect(app: App, found: VersionOfDomain & { endpoint: Endpoint }): Promise<Effect> {
    const { endpoint } = found;
    return readsByUnsafeMethod(endpoint) && !(await isTrustedRead(app.db, found, endpoint.name)) ? 'write' : endpoint.effect;
}

/**
 * Checks the maximum price of a call against the price above which the key requires a person to confirm writes.
 * @throws Refusal FORBIDDEN with the detail CONFIRMATION_REQUIRED
 */
export async function checkPrice(
    app: App,
    { confirmAbove }: Caller,
    found: VersionOfDomain & { endpoint: Endpoint },
    credits: number,
): Promise<void> {
    if (confirmAbove === null || credits <= confirmAbove || (await trustedEffect(app, found)) === 'read') return;
    throw unconfirmed(confirmAbove, credits);
}

/** Whether the scopes of the key exclude at least one effect. */
export function lacksAnEffect({ scopes: { listed } }: Caller): boolean {
    return listed.effects.length < 2;
}

/** Checks a call against the policies of the site's owner and the operator, except their hours. @throws Refusal SITE_BLOCKED */
export async function checkPolicy(app: App, policy: StrictestPolicy | null, endpoint: Endpoint, version: VersionOfDomain): Promise<void> {
    if (policy === null) return;
    // The publisher matters only for a POST that its package declares a read.
    const isRefused =
        !policy.writes && mayChangeSite(endpoint, readsByUnsafeMethod(endpoint) && (await isPublishedForSite(app.db, version)));
    if (isRefused) throw new Refusal('SITE_BLOCKED', "The site's owner or an operator allows only reads, and this call may write.");
}

/** @throws Refusal SITE_UNAVAILABLE outside of the hours of the policy, with the time until they begin */
export function checkHours({ clock }: App, policy: StrictestPolicy | null): void {
    if (policy === null) return;
    const retryAfter = secondsUntilAllOpen(policy.hours, clock.now());
    if (retryAfter === 0) return;
    const times = policy.hours.map(({ from, to, timezone }) => `from ${from} to ${to} (${timezone})`).join(' and ');
    throw new Refusal('SITE_UNAVAILABLE', `The site's owner or an operator allows calls only ${times}.`, { retryAfter });
}

/** @throws Refusal SITE_BLOCKED if the policy blocks the path of the call's URL */
export function checkUrl(policy: StrictestPolicy | null, url: () => string): void {
    if (policy === null || policy.blocked_paths.length === 0 || !isPathBlocked(policy.blocked_paths, url())) return;
    throw new Refusal('SITE_BLOCKED', "The site's owner or an operator does not allow calls to this path.");
}
