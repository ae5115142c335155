const MAX = 1000;
/** Host of an https URL. A URL may contain `;` and `,` in its host, which would add directives to a Content-Security-Policy. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/;
const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|localhost)$/;
/** A scheme that is a domain in reverse, such as `com.example.app:` (RFC 8252, section 7.1). */
const REVERSE_DOMAIN = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:$/;
/** Schemes with `//` that a browser or a system handles itself, so that no app receives them. */
const NOT_APPS =
    /^(javascript|vbscript|data|file|filesystem|blob|about|chrome|view-source|wss?|ftp|intent|smb|ldap|ms-.*|search-ms|shell|x-apple.*):$/;

/** Whether codes may be sent to this URI: https, http on loopback, or an app's own scheme (RFC 8252). */
export function isRedirectUri(text: string): boolean {
    if (text.length > MAX || !/^[\x21-\x7e]+$/.test(text) || text.includes('#') || !URL.canParse(text)) return false;
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') return false;
    if (url.protocol === 'https:') return HOST.test(url.hostname);
    if (url.protocol === 'http:') return LOOPBACK.test(url.hostname);
    // Editors and other programs use a short scheme: `cursor://…`.
    return REVERSE_DOMAIN.test(url.protocol) || (url.href.startsWith(`${url.protocol}//`) && !NOT_APPS.test(url.protocol));
}

/** Whether the app registered this URI. On loopback any port matches (RFC 8252, section 7.3). */
export function isRegistered(text: string, registered: readonly string[]): boolean {
    return isRedirectUri(text) && registered.some((one) => one === text || (isLoopback(one) && withoutPort(one) === withoutPort(text)));
}

/** The redirect target as people read it: a host, or the scheme of a program. */
export function placeOf(redirectUri: string): string {
    const { protocol, host } = new URL(redirectUri);
    return protocol === 'http:' || protocol === 'https:' ? host : `a program on this machine (${protocol}//)`;
}

/** The redirect target as a Content-Security-Policy source. */
export function sourceOf(redirectUri: string): string {
    const { protocol, origin, hostname } = new URL(redirectUri);
    // A Content-Security-Policy cannot contain an IPv6 address.
    return /^https?:$/.test(protocol) && !hostname.startsWith('[') ? origin : protocol;
}

function isLoopback(text: string): boolean {
    const { protocol, hostname } = new URL(text);
    return protocol === 'http:' && LOOPBACK.test(hostname);
}

function withoutPort(text: string): string {
    const url = new URL(text);
    url.port = '';
    return url.href;
}
