/**
 * The cookies of one call (CONTRACT 3.1, `prepare`): each goes back to the very host that set it, whatever `Domain` says, and nothing
 * outlives the call.
 */
export interface CookieJar {
    /** Takes the Set-Cookie headers of an answer from `url`. @param now milliseconds since the epoch */
    store(url: URL, setCookies: readonly string[] | undefined, now: number): void;
    /** The Cookie header for a request to `url`; undefined where there is nothing to say. */
    header(url: URL, now: number): string | undefined;
}

interface Cookie {
    host: string;
    name: string;
    value: string;
    path: string;
    isSecure: boolean;
    /** Milliseconds since the epoch. */
    expiresAt: number;
}

/** Of one call, the oldest out first. */
const MAX_COOKIES = 50;
const MAX_BYTES = 4096;

/** A jar for one call. */
export function createCookieJar(): CookieJar {
    const cookies = new Map<string, Cookie>();
    return {
        store(url, setCookies = [], now) {
            for (const line of setCookies) {
                const cookie = readCookie(line, url, now);
                if (cookie === undefined) continue;
                const key = JSON.stringify([cookie.host, cookie.name, cookie.path]);
                if (cookie.expiresAt <= now) cookies.delete(key);
                else cookies.set(key, cookie);
                const [oldest] = cookies.keys();
                if (cookies.size > MAX_COOKIES && oldest !== undefined) cookies.delete(oldest);
            }
        },
        header(url, now) {
            const fitting = [...cookies.values()].filter(({ host, path, isSecure, expiresAt }) => {
                const isSafe = !isSecure || url.protocol === 'https:';
                return host === url.hostname && isSafe && expiresAt > now && isUnder(url.pathname, path);
            });
            // The longest path first; of equals the one that came first, which sorting keeps.
            fitting.sort((one, other) => other.path.length - one.path.length);
            return fitting.length === 0 ? undefined : fitting.map(({ name, value }) => `${name}=${value}`).join('; ');
        },
    };
}

/** A line of Set-Cookie (RFC 6265, section 5.2); undefined where it is none, or is meant for another host. */
function readCookie(line: string, url: URL, now: number): Cookie | undefined {
    const [pair = '', ...rest] = line.split(';');
    const place = pair.indexOf('=');
    const name = pair.slice(0, place).trim();
    const value = pair.slice(place + 1).trim();
    if (place < 1 || name === '' || name.length + value.length > MAX_BYTES || /[\u0000-\u001f\u007f]/.test(name + value)) return undefined;
    const said = new Map(rest.map(readAttribute));
    const domain = said.get('domain')?.replace(/^\./, '').toLowerCase() ?? '';
    if (domain !== '' && url.hostname !== domain && !url.hostname.endsWith(`.${domain}`)) return undefined;
    const path = said.get('path') ?? '';
    return {
        host: url.hostname,
        name,
        value,
        path: path.startsWith('/') ? path : defaultPath(url.pathname),
        isSecure: said.has('secure'),
        expiresAt: endOf(said, now),
    };
}

function readAttribute(text: string): [name: string, value: string] {
    const place = text.indexOf('=');
    if (place === -1) return [text.trim().toLowerCase(), ''];
    return [text.slice(0, place).trim().toLowerCase(), text.slice(place + 1).trim()];
}

/** `Max-Age` wins over `Expires`; what cannot be read is as if it were not there. */
function endOf(said: ReadonlyMap<string, string>, now: number): number {
    const maxAge = said.get('max-age') ?? '';
    if (/^-?\d+$/.test(maxAge)) return now + Number(maxAge) * 1000;
    const expires = Date.parse(said.get('expires') ?? '');
    return Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires;
}

/** The folder that the answer came from. */
function defaultPath(pathname: string): string {
    const place = pathname.lastIndexOf('/');
    return place <= 0 ? '/' : pathname.slice(0, place);
}

function isUnder(pathname: string, path: string): boolean {
    if (!pathname.startsWith(path)) return false;
    return pathname.length === path.length || path.endsWith('/') || pathname[path.length] === '/';
}
