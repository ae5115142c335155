/** A part of a site that its owner does not want called. */
export interface BlockedPath {
    host: string;
    /** Beginning of the path, as in robots.txt. */
    path_prefix: string;
}

/** When calls are welcome: times of day as `HH:MM`; over midnight where `to` is before `from`. */
export interface Hours {
    from: string;
    to: string;
    /** An IANA name. */
    timezone: string;
}

/** What the owner of a domain allows here. */
export interface SitePolicy {
    blocked: boolean;
    /** False: nothing that may change the site is called. */
    writes: boolean;
    blocked_paths: BlockedPath[];
    requests_per_minute: number | null;
    hours: Hours | null;
}

/** Of a domain whose owner never said anything. */
export const NO_POLICY: Readonly<SitePolicy> = { blocked: false, writes: true, blocked_paths: [], requests_per_minute: null, hours: null };

/** Whether a URL is in a blocked part: by its path as it is sent, and by what servers make of it that decode it or fold its case. */
export function isPathBlocked(paths: readonly BlockedPath[], text: string): boolean {
    const url = URL.parse(text);
    if (url === null) return false;
    const host = url.hostname.replace(/\.$/, '');
    const spellings = [url.pathname, plain(url.pathname)];
    return paths.some(
        (blocked) =>
            blocked.host === host &&
            spellings.some((path) => path.startsWith(blocked.path_prefix) || path.startsWith(plain(blocked.path_prefix))),
    );
}

function plain(path: string): string {
    const decoded = path.replaceAll(/%([0-7][0-9a-f])/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return (URL.parse(decoded.replaceAll(/[\\/]+/g, '/'), 'https://x')?.pathname ?? decoded).toLowerCase();
}

const DAY = 86_400;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whole seconds until calls are welcome; 0 where they are. @param now milliseconds since the epoch */
export function secondsUntilOpen({ from, to, timezone }: Hours, now: number): number {
    const format =
        formats.get(timezone) ??
        new Intl.DateTimeFormat('en', { timeZone: timezone, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
    formats.set(timezone, format);
    const at = secondsOf(format.format(now));
    const [begin, end] = [secondsOf(from), secondsOf(to)];
    const isOpen = begin < end ? at >= begin && at < end : at >= begin || at < end;
    return isOpen ? 0 : (begin - at + DAY) % DAY;
}

function secondsOf(time: string): number {
    const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
    return (hours * 60 + minutes) * 60 + seconds;
}

/** The name of a time zone as it is kept; undefined where there is none of this name. */
export function timezoneOf(name: string): string | undefined {
    try {
        return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    } catch {
        return undefined;
    }
}
