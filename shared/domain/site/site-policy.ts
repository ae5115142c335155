import { getOrMake } from '../get-or-make.ts';
import { isSafeMethod } from '../package/endpoint.ts';
import type { Endpoint } from '../types.ts';

/** A part of a site that its owner does not allow to be called. */
export interface BlockedPath {
    host: string;
    /** Beginning of the path, like in robots.txt. */
    path_prefix: string;
}

export const MAX_BLOCKED_PATHS = 100;
/** A path as URLs contain it: a slash, then visible ASCII. */
export const PATH_PREFIX = /^\/[\x21-\x7e]{0,1000}$/;
export const MAX_REQUESTS_PER_MINUTE = 1_000_000;

/** The allowed times of day as `HH:MM`. If `to` is before `from`, the period includes midnight. */
export interface Hours {
    from: string;
    to: string;
    /** The IANA name. */
    timezone: string;
}

/** A policy set by the owner of a domain or an operator. */
export interface SitePolicy {
    blocked: boolean;
    /** False: calls that may change the site are not allowed. */
    writes: boolean;
    blocked_paths: BlockedPath[];
    requests_per_minute: number | null;
    hours: Hours | null;
}

/** The policy of a domain for which none was set. */
export const NO_POLICY: Readonly<SitePolicy> = { blocked: false, writes: true, blocked_paths: [], requests_per_minute: null, hours: null };

/** The stricter one of the owner's and the operator's policy, for each field. */
export interface StrictestPolicy extends Omit<SitePolicy, 'hours'> {
    /** Calls are allowed only while all of these periods are open. */
    hours: readonly Hours[];
}

/** Combines several policies into the strictest, for each field; null if there is none. */
export function strictest(policies: readonly (SitePolicy | null)[]): StrictestPolicy | null {
    const set = policies.filter((policy) => policy !== null);
    if (set.length === 0) return null;
    const paces = set.flatMap(({ requests_per_minute: pace }) => (pace === null ? [] : [pace]));
    return {
        blocked: set.some(({ blocked }) => blocked),
        writes: set.every(({ writes }) => writes),
        blocked_paths: set.flatMap(({ blocked_paths: paths }) => paths),
        requests_per_minute: paces.length === 0 ? null : Math.min(...paces),
        hours: set.flatMap(({ hours }) => (hours === null ? [] : [hours])),
    };
}

/**
 * Whether an endpoint may change its site, from the view of the site's owner. Anybody may have written the package, and a harmless example
 * passes a verification. So a POST is trusted to be a read only if its publisher speaks for the site.
 * @param isPublishedForSite whether a workspace that speaks for the site published the version
 */
export function mayChangeSite(endpoint: Pick<Endpoint, 'effect' | 'method'>, isPublishedForSite: boolean): boolean {
    return endpoint.effect === 'write' || (!isPublishedForSite && readsByUnsafeMethod(endpoint));
}

/** Whether every call of an endpoint is refused, whatever its params. Allowed hours do not matter: they only delay calls. */
export function refusesEndpoint(policy: Omit<SitePolicy, 'hours'>, endpoint: Endpoint, isPublishedForSite: boolean): boolean {
    const { url, prepare } = endpoint;
    return refusesCalls(policy, endpoint, [url, ...(prepare ?? []).map((step) => step.url)], isPublishedForSite);
}

/** Like `refusesEndpoint`, by these facts alone. @param urls all URLs that it calls, at least up to the first placeholder */
export function refusesCalls(
    policy: Omit<SitePolicy, 'hours'>,
    endpoint: Pick<Endpoint, 'effect' | 'method'>,
    urls: readonly string[],
    isPublishedForSite: boolean,
): boolean {
    if (policy.blocked || (!policy.writes && mayChangeSite(endpoint, isPublishedForSite))) return true;
    return urls.some((template) => isTemplateBlocked(policy.blocked_paths, template));
}

/** All URLs from the template contain the part before the first placeholder. */
function isTemplateBlocked(paths: readonly BlockedPath[], template: string): boolean {
    const [certain = ''] = template.split('{', 1);
    return isPathBlocked(paths, certain);
}

/** Compares a path as sent, and as servers may read it: decoded, case-folded, or with `;` as the end of a segment. */
export function isPathBlocked(paths: readonly BlockedPath[], text: string): boolean {
    const url = URL.parse(text);
    if (url === null) return false;
    const host = url.hostname.replace(/\.$/, '');
    const spellings = [url.pathname, plain(url.pathname), plain(url.pathname, { hasPathParams: true })];
    return paths.some(
        (blocked) =>
            blocked.host === host &&
            spellings.some((path) => path.startsWith(blocked.path_prefix) || path.startsWith(plain(blocked.path_prefix))),
    );
}

/** @param options.hasPathParams whether `;` and the rest of its segment are removed */
function plain(path: string, { hasPathParams = false } = {}): string {
    // An encoded ? or # is a character of the path: decoded, it would end it here, and not where servers end it.
    const decoded = path.replaceAll(/%(?!3f|23)([0-7][0-9a-f])/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    const bare = hasPathParams ? decoded.replaceAll(/;[^/]*/g, '') : decoded;
    return (URL.parse(bare.replaceAll(/[\\/]+/g, '/'), 'https://x')?.pathname ?? bare).toLowerCase();
}

const DAY = 86_400;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whole seconds until all these periods are open; 0: now; a day: never at once. @param now milliseconds since the epoch */
export function secondsUntilAllOpen(hours: readonly Hours[], now: number): number {
    let wait = 0;
    // Every common period begins when one of the periods opens, so checking all openings misses none.
    while (wait < 2 * DAY) {
        const more = Math.max(0, ...hours.map((each) => secondsUntilOpen(each, now + wait * 1000)));
        if (more === 0) return wait;
        wait += more;
    }
    return DAY;
}

/** Like `secondsUntilAllOpen`, for one period. @param now milliseconds since the epoch */
export function secondsUntilOpen({ from, to, timezone }: Hours, now: number): number {
    const options = { timeZone: timezone, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
    const format = getOrMake(formats, timezone, () => new Intl.DateTimeFormat('en', options));
    const at = secondsOf(format.format(now));
    const [begin, end] = [secondsOf(from), secondsOf(to)];
    const isOpen = begin < end ? at >= begin && at < end : at >= begin || at < end;
    return isOpen ? 0 : (begin - at + DAY) % DAY;
}

function secondsOf(time: string): number {
    const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
    return (hours * 60 + minutes) * 60 + seconds;
}

/** The stored name of a time zone; undefined for an unknown name. Offsets such as +01:15 are not names. */
export function timezoneOf(name: string): string | undefined {
    if (!/^[a-z]/i.test(name)) return undefined;
    try {
        return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    } catch {
        return undefined;
    }
}

/** Whether the package declares an endpoint a read although its method usually writes, such as POST. */
export function readsByUnsafeMethod({ effect, method }: Pick<Endpoint, 'effect' | 'method'>): boolean {
    return effect === 'read' && !isSafeMethod(method);
}
