const MOST = 1000;
const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|localhost)$/;
/** Schemes that a browser runs or reads by itself. */
const NOT_APPS = new Set([
    'javascript:',
    'data:',
    'file:',
    'blob:',
    'about:',
    'vbscript:',
    'view-source:',
    'ws:',
    'wss:',
    'ftp:',
    'mailto:',
]);

/** Whether an app may be sent codes there: https, http on the person's own machine, or the app's own scheme (RFC 8252). */
export function isRedirectUri(text: string): boolean {
    if (text.length > MOST || !/^[\x21-\x7e]+$/.test(text) || text.includes('#') || !URL.canParse(text)) return false;
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') return false;
    if (url.protocol === 'https:') return true;
    if (url.protocol === 'http:') return LOOPBACK.test(url.hostname);
    return !NOT_APPS.has(url.protocol);
}

/** Whether an app registered this address. A port on the person's own machine is free to choose (RFC 8252, section 7.3). */
export function isRegistered(text: string, registered: readonly string[]): boolean {
    return isRedirectUri(text) && registered.some((one) => one === text || (isLoopback(one) && withoutPort(one) === withoutPort(text)));
}

/** Where a page says that somebody is sent: a host, or the scheme of a program. */
export function placeOf(redirectUri: string): string {
    const { protocol, host } = new URL(redirectUri);
    return protocol === 'http:' || protocol === 'https:' ? host : `a program on this machine (${protocol}//)`;
}

/** What a Content-Security-Policy calls the place. */
export function sourceOf(redirectUri: string): string {
    const { protocol, origin, hostname } = new URL(redirectUri);
    // Policies have no word for an IPv6 address.
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
