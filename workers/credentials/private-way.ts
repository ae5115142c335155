import ipaddr from 'ipaddr.js';
import type { EgressRules } from '../egress.ts';

/** Whether nobody on the way reads along: https, or a name that EGRESS_HOSTS binds to this very machine. */
export function isPrivate({ protocol, hostname }: URL, { hosts }: Pick<EgressRules, 'hosts'>): boolean {
    if (protocol === 'https:') return true;
    const addresses = hosts.get(hostname) ?? [];
    return addresses.length > 0 && addresses.every((address) => ipaddr.process(address).range() === 'loopback');
}
