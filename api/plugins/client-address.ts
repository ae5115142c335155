import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/**
 * The address that asks. `X-Forwarded-For` is believed only as far as `hops` proxies of ours stand in front: the entry
 * that the outermost of them saw. Fewer entries than hops, or one that is no address: the peer's own.
 */
export function clientAddress(request: IncomingMessage, hops: number): string {
    const peer = plain(request.socket.remoteAddress ?? '') ?? '0.0.0.0';
    if (hops === 0) return peer;
    const forwarded = (request.headers['x-forwarded-for'] ?? '').toString().split(',');
    const claimed = forwarded[forwarded.length - hops];
    return (claimed === undefined ? undefined : plain(claimed.trim())) ?? peer;
}

/** Who is at the other end of a connection, as limits count: a proxy, where one stands in front. */
export function peerIdentity(socket: Socket): string {
    return limitIdentity(plain(socket.remoteAddress ?? '') ?? '0.0.0.0');
}

/** The identity that limits count: an IPv4 address, or the /64 of an IPv6 one, which is what one household gets. */
export function limitIdentity(address: string): string {
    const parsed = ipaddr.parse(address);
    if (parsed.kind() === 'ipv4') return parsed.toString();
    return `${parsed
        .toByteArray()
        .slice(0, 8)
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('')}/64`;
}

/** Addresses by what was written: a connection brings the same one with every request. */
const read = new LRUCache<string, { address: string | undefined }>({ max: 1000 });

function plain(text: string): string | undefined {
    const known = read.get(text);
    if (known !== undefined) return known.address;
    const address = ipaddr.isValid(text) ? ipaddr.process(text).toString() : undefined;
    if (text.length <= LONGEST_ADDRESS) read.set(text, { address });
    return address;
}

/** An IPv6 address with an IPv4 tail and a zone. */
const LONGEST_ADDRESS = 64;
