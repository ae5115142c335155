import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/** The client: the entry of `X-Forwarded-For` that the outermost of our proxies (`hops`) added, if it is valid, or else the peer. */
export function clientAddress(request: IncomingMessage, hops: number): string {
    const peer = peerAddress(request.socket);
    if (hops === 0) return peer;
    const forwarded = (request.headers['x-forwarded-for'] ?? '').toString().split(',');
    const claimed = forwarded[forwarded.length - hops];
    return (claimed === undefined ? undefined : plain(withoutPort(claimed.trim()))) ?? peer;
}

/** Some proxies write the port of the client too: `192.0.2.1:5000` or `[2001:db8::1]:5000`. */
function withoutPort(entry: string): string {
    return /^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/.exec(entry)?.slice(1).join('') ?? entry;
}

/** The peer of a connection, as limits count it: the proxy, if there is one. */
export function peerIdentity(socket: Socket): string {
    return limitIdentity(peerAddress(socket));
}

function peerAddress({ remoteAddress = '' }: Socket): string {
    return plain(remoteAddress) ?? '0.0.0.0';
}

/** The client that limits count: an IPv4 address, or the /64 of an IPv6 address, which one household gets. */
export function limitIdentity(address: string): string {
    const parsed = ipaddr.parse(address);
    if (parsed.kind() === 'ipv4') return parsed.toString();
    return `${parsed
        .toByteArray()
        .slice(0, 8)
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('')}/64`;
}

/** The network that limits count: the /24 of an IPv4 address, or the /48 of an IPv6 address. */
export function networkOf(address: string): string {
    const parsed = ipaddr.parse(address);
    return parsed
        .toByteArray()
        .slice(0, parsed.kind() === 'ipv4' ? 3 : 6)
        .join('.');
}

/** Parsed addresses by their text, since every request of a connection has the same address. */
const parsedAddresses = new LRUCache<string, { address: string | undefined }>({ max: 1000 });

function plain(text: string): string | undefined {
    const known = parsedAddresses.get(text);
    if (known !== undefined) return known.address;
    const address = ipaddr.isValid(text) ? untranslated(ipaddr.process(text)).toString() : undefined;
    if (text.length <= MAX_ADDRESS) parsedAddresses.set(text, { address });
    return address;
}

/** NAT64 puts all IPv4 clients into this prefix (RFC 6052). Without the translation back they would share one /64. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

function untranslated(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
    const isTranslated = address.kind() === 'ipv6' && address.match(NAT64);
    return isTranslated ? ipaddr.fromByteArray(address.toByteArray().slice(12)) : address;
}

/** The length of an IPv6 address with an IPv4 tail and a zone. Longer texts are not cached. */
const MAX_ADDRESS = 64;
