/**
 * The cookies of one call (docs/api.md, "Schema packages"). A cookie is sent only to the host that set it, whatever `Domain` says, and ends
 * with the call.
 */
export interface CookieJar {
    /** Stores the Set-Cookie headers of an answer from `url`. @param now milliseconds since the epoch */
    store(url: URL, setCookies: readonly string[] | undefined, now: number): void;
    /** The Cookie header for a request to `url`; undefined without cookies. */
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

/** Cookies of one call. The oldest is dropped first. */
const MAX_COOKIES = 50;
const MAX_BYTES = 4096;

/** Creates the cookie jar of one call. */
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
            // The longest path first. The sort is stable, so equal paths keep their order.
            fitting.sort((one, other) => other.path.length - one.path.length);
            return fitting.length === 0 ? undefined : fitting.map(({ name, value }) => `${name}=${value}`).join('; ');
        },
    };
}

/** Parses a Set-Cookie line (RFC 6265, section 5.2); undefined if it is invalid or for another host. */
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

/** `Max-Age` wins over `Expires`. Invalid values are ignored. */
function endOf(said: ReadonlyMap<string, string>, now: number): number {
    const maxAge = said.get('max-age') ?? '';
    if (/^-?\d+$/.test(maxAge)) return now + Number(maxAge) * 1000;
    const expires = Date.parse(said.get('expires') ?? '');
    return Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires;
}

/** The default path of a cookie: the folder of the URL. */
function defaultPath(pathname: string): string {
    const place = pathname.lastIndexOf('/');
    return place <= 0 ? '/' : pathname.slice(0, place);
}

function isUnder(pathname: string, path: string): boolean {
    if (!pathname.startsWith(path)) return false;
    return pathname.length === path.length || path.endsWith('/') || pathname[path.length] === '/';
}
