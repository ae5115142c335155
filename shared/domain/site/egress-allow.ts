import ipaddr from 'ipaddr.js';

/** One exception to the address guard: all addresses of a range, on one port or (without `port`) on every port. */
export interface EgressAllowEntry {
    /** An address of the range, and the number of its leading bits that matter. */
    network: string;
    prefix: number;
    port: number | undefined;
}

type EgressAllow = { ok: true; entries: EgressAllowEntry[] } | { ok: false; problem: string };

/**
 * Parses the setting EGRESS_ALLOW (docs/operations.md): `CIDR` or `CIDR:port`, separated by commas, IPv6 with a port as `[::1]/128:3000`. A
 * single address is a range of one; address bits beyond the prefix are ignored. `problem` completes a sentence whose subject is the
 * setting: `has the entry "x", which is not a CIDR or CIDR:port`.
 */
export function parseEgressAllow(text: string): EgressAllow {
    const entries: EgressAllowEntry[] = [];
    for (const piece of text.split(',')) {
        const written = piece.trim();
        if (written === '') continue;
        const entry = parseEntry(written);
        if (typeof entry === 'string') return { ok: false, problem: `has the entry ${JSON.stringify(written)}, which ${entry}` };
        entries.push(entry);
    }
    return { ok: true, entries };
}

/** Whether an entry allows this address on this port. IPv4 ranges do not include IPv4-mapped IPv6 addresses. */
export function isAddressAllowed(entries: readonly EgressAllowEntry[], address: string, port: number): boolean {
    if (entries.length === 0 || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.parse(address);
    return entries.some(
        (entry) => (entry.port === undefined || entry.port === port) && isInRange(parsed, ipaddr.parse(entry.network), entry.prefix),
    );
}

/** Whether any entry allows this port on any address. This can be checked before the host name is resolved. */
export function isPortAllowed(entries: readonly EgressAllowEntry[], port: number): boolean {
    return entries.some((entry) => entry.port === undefined || entry.port === port);
}

/** The port of a URL, also if it is the default of its scheme. */
export function portOf({ port, protocol }: URL): number {
    if (port !== '') return Number(port);
    return protocol === 'https:' ? 443 : 80;
}

const IN_BRACKETS = /^\[([^\]]+)\](?:\/(\d{1,3}))?(?::(\d{1,5}))?$/;
const IPV4 = /^([\d.]+)(?:\/(\d{1,2}))?(?::(\d{1,5}))?$/;
const BARE_IPV6 = /^([0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*)(?:\/(\d{1,3}))?$/i;

function parseEntry(text: string): EgressAllowEntry | string {
    const parts = IN_BRACKETS.exec(text) ?? IPV4.exec(text) ?? BARE_IPV6.exec(text);
    if (parts === null) return 'is not a CIDR or CIDR:port';
    const [, host = '', prefixText, portText] = parts;
    const isFour = ipaddr.IPv4.isValidFourPartDecimal(host);
    if (!isFour && (!host.includes(':') || !ipaddr.IPv6.isValid(host))) return 'has no valid address';
    const address = ipaddr.parse(host);
    const bits = isFour ? 32 : 128;
    const prefix = prefixText === undefined ? bits : Number(prefixText);
    if (prefix > bits) return `has a prefix longer than ${bits} bits`;
    const port = portText === undefined ? undefined : Number(portText);
    if (port !== undefined && (port < 1 || port > 65_535)) return 'has a port outside of 1 to 65535';
    return { network: address.toString(), prefix, port };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

function isInRange(address: Address, network: Address, prefix: number): boolean {
    return address.kind() === network.kind() && address.match(network, prefix);
}
