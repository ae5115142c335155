import ipaddr from 'ipaddr.js';
import type { EgressRules } from '../egress.ts';

/** Whether a credential may be sent to this URL: over https, or to a name that EGRESS_HOSTS maps to the loopback interface. */
export function isPrivate({ protocol, hostname }: URL, { hosts }: Pick<EgressRules, 'hosts'>): boolean {
    if (protocol === 'https:') return true;
    const addresses = hosts.get(hostname) ?? [];
    return addresses.length > 0 && addresses.every((address) => ipaddr.process(address).range() === 'loopback');
}
