import { Cookie, defaultPath, domainMatch, pathMatch } from 'tough-cookie';

export type CallCookies = ReturnType<typeof createCallCookies>;

/** Cookies of one call. The oldest is dropped first. */
const MAX_COOKIES = 50;
const MAX_CHARACTERS = 4096;

interface StoredCookie {
    cookie: Cookie;
    host: string;
    path: string;
    /** Milliseconds since the epoch. */
    expiresAt: number;
}

/**
 * Creates the cookies of one call (docs/api.md, "Hosted fetch"). A cookie is sent only to the host that set it, whatever `Domain` says, and
 * ends with the call. Times are milliseconds since the epoch.
 */
export function createCallCookies() {
    const kept = new Map<string, StoredCookie>();
    return {
        /** Stores the Set-Cookie headers of an answer from `url`. Invalid cookies are ignored. */
        store(url: string, setCookies: readonly string[] | undefined, now: number): void {
            if (setCookies === undefined) return;
            const { hostname: host, pathname } = new URL(url);
            for (const line of setCookies) {
                const cookie = Cookie.parse(line);
                if (cookie === undefined || cookie.key.length + cookie.value.length > MAX_CHARACTERS) continue;
                if (cookie.domain !== null && domainMatch(host, cookie.domain) !== true) continue;
                const path = cookie.path ?? defaultPath(pathname);
                const expiresAt = cookie.expiryTime(new Date(now)) ?? Number.POSITIVE_INFINITY;
                const id = JSON.stringify([host, path, cookie.key]);
                if (expiresAt <= now) kept.delete(id);
                else kept.set(id, { cookie, host, path, expiresAt });
                const [oldest] = kept.keys();
                if (kept.size > MAX_COOKIES && oldest !== undefined) kept.delete(oldest);
            }
        },
        /** The value of the newest cookie of this name that the host of `url` set. */
        value(url: string, name: string, now: number): string | undefined {
            const { hostname } = new URL(url);
            const found = [...kept.values()].findLast(
                ({ cookie, host, expiresAt }) => cookie.key === name && host === hostname && expiresAt > now,
            );
            return found?.cookie.value;
        },
        header(url: string, now: number): string | undefined {
            if (kept.size === 0) return undefined;
            const { hostname, pathname, protocol } = new URL(url);
            const fitting = [...kept.values()]
                .filter(({ host, path, expiresAt }) => host === hostname && expiresAt > now && pathMatch(pathname, path))
                .filter(({ cookie }) => !cookie.secure || protocol === 'https:')
                // The longest path first (RFC 6265, section 5.4).
                .sort((one, other) => other.path.length - one.path.length);
            return fitting.length === 0 ? undefined : fitting.map(({ cookie }) => cookie.cookieString()).join('; ');
        },
    };
}
