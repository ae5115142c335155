import ipaddr from 'ipaddr.js';
import { type EgressAllowEntry, isAddressAllowed, isPortAllowed, portOf } from '../../shared/domain/site/egress-allow.ts';
import { isOnDomain } from '../../shared/domain/site/site-name.ts';
import type { EgressSettings } from '../../shared/platform/config.ts';
import { classifyAddress, type NonPublic } from './addresses.ts';

/** The operator's egress settings; fixed for the life of a process. */
export interface EgressRules {
    /** EGRESS_ALLOW: addresses and ports beyond public https on 443. */
    allow: readonly EgressAllowEntry[];
    /** EGRESS_HOSTS: fixed DNS answers by name in lower case, guarded like any other. */
    hosts: ReadonlyMap<string, readonly string[]>;
    /** EGRESS_PROXY_URL: the proxy decides on addresses; we still check names, schemes and ports. */
    proxyUrl: string | undefined;
}

export function egressRules({ egressAllow, egressHosts, egressProxyUrl }: EgressSettings): EgressRules {
    return { allow: egressAllow, hosts: egressHosts, proxyUrl: egressProxyUrl };
}

export type Scheme = 'http' | 'https';

/** Where a connection would go: the address that is dialled, not the name that led to it. */
interface Dial {
    address: string;
    port: number;
    scheme: Scheme;
}

export type DialVerdict = 'allowed' | NonPublic | 'scheme' | 'port';

/**
 * Decides on address, port and scheme together (docs/api.md, "Addresses"): an entry of EGRESS_ALLOW that covers address and port allows
 * both schemes; everything else has to be a public address, https and port 443.
 */
export function checkDial({ address, port, scheme }: Dial, rules: EgressRules): DialVerdict {
    if (isAddressAllowed(rules.allow, address, port)) return 'allowed';
    const kind = classifyAddress(address);
    if (kind !== 'public') return kind;
    if (scheme !== 'https') return 'scheme';
    return port === 443 ? 'allowed' : 'port';
}

/** Whether a secret may be sent to this URL: over https, or to a name that EGRESS_HOSTS maps to the loopback interface. */
export function mayCarrySecrets({ protocol, hostname }: URL, { hosts }: Pick<EgressRules, 'hosts'>): boolean {
    if (protocol === 'https:') return true;
    const addresses = hosts.get(hostname) ?? [];
    return addresses.length > 0 && addresses.every((address) => ipaddr.process(address).range() === 'loopback');
}

export type UrlVerdict = 'allowed' | 'name' | 'user-info' | 'scheme' | 'port';

/**
 * Checks a URL before it is dialled, in the contract's order: the name first, then scheme and port. `user-info` is
 * refused with the name: it would send credentials that no schema may hold.
 */
export function checkUrl(url: URL, registrable: string, rules: EgressRules): UrlVerdict {
    if (!isOnDomain(url.hostname, registrable)) return 'name';
    if (url.username !== '' || url.password !== '') return 'user-info';
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme';
    const port = portOf(url);
    if (url.protocol === 'https:' && port === 443) return 'allowed';
    if (isPortAllowed(rules.allow, port)) return 'allowed';
    return url.protocol === 'https:' ? 'port' : 'scheme';
}
