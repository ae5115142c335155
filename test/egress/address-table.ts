import { BlockList } from 'node:net';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { classifyAddress } from '../../workers/egress.ts';

/**
 * Compares our table with the IANA registries (as listed below, checked with Node's own BlockList) and with a library, for this many random
 * addresses, half of them near a boundary, and for every edge. Throws on a difference.
 * @returns how many of the random addresses were public, since agreeing only on refusals would prove little
 */
export function checkAddresses(runs: number): number {
    let isPublic = 0;
    const random = fc.oneof(
        fc.uint8Array({ minLength: 4, maxLength: 4 }),
        fc.uint8Array({ minLength: 16, maxLength: 16 }),
        // Only an eighth of IPv6 can be public at all.
        fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => bytes.with(0, 0x20 | ((bytes[0] ?? 0) & 0x1f))),
        fc
            .tuple(fc.constantFrom(...NOT_GLOBAL, ...STRICTER), fc.uint8Array({ minLength: 16, maxLength: 16 }))
            .map(([cidr, noise]) => near(cidr, noise)),
    );
    fc.assert(
        fc.property(random, (bytes) => {
            if (agrees(ipaddr.fromByteArray([...bytes]).toString())) isPublic++;
        }),
        { numRuns: runs },
    );
    for (const cidr of [...NOT_GLOBAL, ...STRICTER]) for (const edge of edgesOf(cidr)) agrees(edge);
    return isPublic;
}

/** Rows of the two IANA special-purpose registries that are not globally reachable, and ranges outside of global unicast. */
const NOT_GLOBAL = [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
    ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
    ...['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
];

/** Ours is stricter than the registry here: IANA says globally reachable, but no website is there. */
const STRICTER = ['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24', '2620:4f:8000::/48', '168.63.129.16/32'];

// One list for each family, since a BlockList also applies IPv6 rules to the mapped form of IPv4 addresses.
const blocked = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const cidr of [...NOT_GLOBAL, ...STRICTER]) {
    const [network, prefix] = ipaddr.parseCIDR(cidr);
    blocked[network.kind()].addSubnet(network.toString(), prefix, network.kind());
}

/** Whether the address is public. Throws unless all three agree. */
function agrees(address: string): boolean {
    const parsed = ipaddr.parse(address);
    const kind = classifyAddress(address);
    const isBlocked = blocked[parsed.kind()].check(address, parsed.kind());
    if ((kind === 'public') === isBlocked) throw new Error(`we call ${address} ${kind}, and the registries say otherwise`);
    const range = parsed.range();
    const isUnicast = range === 'unicast';
    if (kind === 'public' && !isUnicast) throw new Error(`we call ${address} public, and the library ${range}`);
    if (kind !== 'public' && isUnicast && !EXPECTED_UNICAST.has(kind))
        throw new Error(`we call ${address} ${kind}, and the library unicast`);
    return kind === 'public';
}

/** Ranges in which we are stricter than the library on purpose: see `classifyAddress`. */
const EXPECTED_UNICAST: ReadonlySet<string> = new Set(['unallocated', 'cloud-metadata']);

function near(cidr: string, noise: Uint8Array): number[] {
    const [network, prefix] = ipaddr.parseCIDR(cidr);
    return network.toByteArray().map((byte, index) => {
        const kept = Math.min(8, Math.max(0, prefix - index * 8));
        return byte | ((noise[index] ?? 0) & (0xff >> kept));
    });
}

/** First and last address of a range and their neighbours outside of it. */
function edgesOf(cidr: string): string[] {
    const [network, prefix] = ipaddr.parseCIDR(cidr);
    const bytes = network.toByteArray();
    const bits = BigInt(bytes.length * 8);
    const first = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    const last = first + (1n << (bits - BigInt(prefix))) - 1n;
    return [first - 1n, first, last, last + 1n]
        .filter((value) => value >= 0n && value < 1n << bits)
        .map((value) => {
            const hex = value.toString(16).padStart(bytes.length * 2, '0');
            return ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]).toString();
        });
}
