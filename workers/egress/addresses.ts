import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Why an address is not public. Names are shown in logs and tests, never to a caller. */
export type NonPublic = (typeof IPV4 | typeof IPV6)[number]['kind'] | 'not-an-address' | 'zoned' | 'unallocated';

/**
 * Classifies an address as public, or names the rule that excludes it (docs/api.md, "Addresses"). The table contains the IANA
 * special-purpose registries for IPv4 and IPv6 and is stricter in three points: ranges that IANA calls globally reachable but that host no
 * websites (AS112, AMT, protocol anycast) are excluded; of IPv6 only 2000::/3, the allocated part, can be public; and IPv6 addresses that
 * embed an IPv4 address are always excluded.
 */
export function classifyAddress(address: string): NonPublic | 'public' {
    const family = isIP(address);
    if (family === 0) return 'not-an-address';
    if (family === 4) return inTable(ipaddr.IPv4.parse(address).toByteArray(), IPV4) ?? 'public';
    const parsed = ipaddr.IPv6.parse(address);
    if (parsed.zoneId !== undefined) return 'zoned';
    const bytes = parsed.toByteArray();
    return inTable(bytes, IPV6) ?? (((bytes[0] ?? 0) & 0xe0) === 0x20 ? 'public' : 'unallocated');
}

// The first match wins: narrow ranges come before the wider ones that contain them.
const IPV4 = [
    range('168.63.129.16/32', 'cloud-metadata'),
    range('0.0.0.0/32', 'unspecified'),
    range('0.0.0.0/8', 'this-network'),
    range('10.0.0.0/8', 'private'),
    range('100.64.0.0/10', 'shared'),
    range('127.0.0.0/8', 'loopback'),
    range('169.254.0.0/16', 'link-local'),
    range('172.16.0.0/12', 'private'),
    range('192.0.0.0/24', 'protocol-assignments'),
    range('192.0.2.0/24', 'documentation'),
    range('192.31.196.0/24', 'as112'),
    range('192.52.193.0/24', 'amt'),
    range('192.88.99.0/24', '6to4-relay'),
    range('192.168.0.0/16', 'private'),
    range('192.175.48.0/24', 'as112'),
    range('198.18.0.0/15', 'benchmarking'),
    range('198.51.100.0/24', 'documentation'),
    range('203.0.113.0/24', 'documentation'),
    range('224.0.0.0/4', 'multicast'),
    range('255.255.255.255/32', 'broadcast'),
    range('240.0.0.0/4', 'reserved'),
];

const IPV6 = [
    range('::/128', 'unspecified'),
    range('::1/128', 'loopback'),
    range('::ffff:0:0/96', 'ipv4-mapped'),
    range('::/96', 'ipv4-compatible'),
    range('64:ff9b::/96', 'nat64'),
    range('64:ff9b:1::/48', 'nat64'),
    range('100::/64', 'discard'),
    range('100:0:0:1::/64', 'discard'),
    range('2001::/32', 'teredo'),
    range('2001:2::/48', 'benchmarking'),
    range('2001:3::/32', 'amt'),
    range('2001:4:112::/48', 'as112'),
    range('2001:10::/28', 'orchid'),
    range('2001:20::/28', 'orchid'),
    range('2001:30::/28', 'drone-id'),
    range('2001::/23', 'protocol-assignments'),
    range('2001:db8::/32', 'documentation'),
    range('2002::/16', '6to4'),
    range('2620:4f:8000::/48', 'as112'),
    range('3fff::/20', 'documentation'),
    range('5f00::/16', 'segment-routing'),
    range('fc00::/7', 'unique-local'),
    range('fe80::/10', 'link-local'),
    range('fec0::/10', 'site-local'),
    range('ff00::/8', 'multicast'),
];

function range<const Kind extends string>(cidr: string, kind: Kind) {
    const [network, prefix] = ipaddr.parseCIDR(cidr);
    return { bytes: network.toByteArray(), prefix, kind };
}

function inTable<Kind>(
    bytes: readonly number[],
    table: readonly { bytes: readonly number[]; prefix: number; kind: Kind }[],
): Kind | undefined {
    return table.find((entry) => sharesPrefix(bytes, entry.bytes, entry.prefix))?.kind;
}

function sharesPrefix(one: readonly number[], other: readonly number[], prefix: number): boolean {
    const whole = prefix >> 3;
    for (let i = 0; i < whole; i++) if (one[i] !== other[i]) return false;
    const rest = prefix & 7;
    if (rest === 0) return true;
    const mask = (0xff00 >> rest) & 0xff;
    return ((one[whole] ?? 0) & mask) === ((other[whole] ?? 0) & mask);
}
