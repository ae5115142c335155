import { type EgressAllowEntry, isPortAllowed, portOf } from '../site/egress-allow.ts';
import { registrableDomain } from '../site/site-name.ts';

export const MAX_URL_CHARACTERS = 2048;

interface ReceiverRules {
    allow: readonly EgressAllowEntry[];
    /** The setting PUBLIC_URL. Webhooks must not call Routebook itself. */
    publicUrl: string;
}

export interface Receiver {
    url: string;
    /** Host name or address, without a port. */
    host: string;
    /** Undefined for an IP address. */
    registrable: string | undefined;
}

/** Validates the URL of a receiver without DNS: the egress guard checks addresses. The message follows the name of the field. */
export function readReceiver(
    text: string,
    { allow, publicUrl }: ReceiverRules,
): { ok: true; receiver: Receiver } | { ok: false; message: string } {
    const url = URL.parse(text);
    if (url === null || !/^https?:\/\/[^\t\r\n]*$/i.test(text)) return wrong('must be a URL that begins with https://');
    if (url.href.length > MAX_URL_CHARACTERS) return wrong(`must have at most ${MAX_URL_CHARACTERS} characters`);
    if (url.username !== '' || url.password !== '') return wrong('must not contain a user name or a password');
    if (text.includes('#')) return wrong('must not have a fragment');
    const own = new URL(publicUrl);
    if (hostOf(url) === hostOf(own) && portOf(url) === portOf(own)) return wrong('must not point to this service');
    const isHttps = url.protocol === 'https:';
    const port = portOf(url);
    if (!(isHttps && port === 443) && !isPortAllowed(allow, port)) {
        return wrong(isHttps ? 'must use port 443: the operator allows no other' : 'must use https');
    }
    const host = hostOf(url);
    return { ok: true, receiver: { url: url.href, host, registrable: registrableDomain(host) } };
}

/** The host without its trailing dot. */
function hostOf({ hostname }: URL): string {
    return hostname.replace(/\.$/, '');
}

function wrong(message: string): { ok: false; message: string } {
    return { ok: false, message };
}
