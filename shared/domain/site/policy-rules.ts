import { domainToASCII } from 'node:url';
import type { Detail } from '../../refusals.ts';
import { normaliseSite } from './site-name.ts';
import { MAX_BLOCKED_PATHS, PATH_PREFIX, type SitePolicy, timezoneOf } from './site-policy.ts';

type CheckedPolicy = { ok: true; policy: SitePolicy } | { ok: false; details: Detail[] };

/** Checks a policy against its domain. The returned hosts and time zone are in the stored form. */
export function checkPolicy(policy: SitePolicy, registrable: string): CheckedPolicy {
    const details: Detail[] = [];
    const wrong = (path: string, message: string) => details.push({ path, code: 'INVALID_VALUE', message });
    const blocked_paths = policy.blocked_paths.map(({ host: written, path_prefix }, place) => {
        const name = normaliseSite(written);
        // `normaliseSite` would remove `www.`, but here that is a host of its own.
        const host = hostAsInUrls(written);
        if (!name.ok || name.registrable !== registrable) wrong(`/blocked_paths/${place}/host`, `This is not a host of ${registrable}.`);
        if (!PATH_PREFIX.test(path_prefix))
            wrong(
                `/blocked_paths/${place}/path_prefix`,
                'It must begin with a slash and have at most 1000 visible ASCII characters; write others as %XX.',
            );
        return { host, path_prefix };
    });
    if (policy.blocked_paths.length > MAX_BLOCKED_PATHS) wrong('/blocked_paths', `A policy may block at most ${MAX_BLOCKED_PATHS} paths.`);
    if (policy.hours !== null && policy.hours.from === policy.hours.to) wrong('/hours/to', 'from and to must differ.');
    const timezone = policy.hours === null ? undefined : timezoneOf(policy.hours.timezone);
    if (policy.hours !== null && timezone === undefined)
        wrong('/hours/timezone', 'This is not a time zone; give an IANA name such as Europe/Berlin.');
    if (details.length > 0) return { ok: false, details };
    const hours = policy.hours && { ...policy.hours, timezone: timezone ?? policy.hours.timezone };
    return { ok: true, policy: { ...policy, blocked_paths, hours } };
}

/** Lower case, A-labels, without a trailing dot; empty if the text is not a host. */
export function hostAsInUrls(written: string): string {
    return domainToASCII(written.trim()).replace(/\.$/, '');
}
