import ipaddr from 'ipaddr.js';
import { holdsName, type NameList } from '../site/name-list.ts';
import { registrableDomain } from '../site/site-name.ts';

/** Maximum number of sign-ups per origin and UTC day that earn an inviter a bonus. Later users still get their own first-fetch bonus. */
export const MAX_SIGN_UPS_A_DAY = 5;

/** What accounts of one person share: the address range (an IPv4 /24, an IPv6 /48) and the mail domain, unless it is a public one. */
export function signUpOrigins({ address, mailDomain }: { address: string; mailDomain: string }, providers: NameList): string[] {
    const range = rangeOf(address);
    if (holdsName(providers, mailDomain)) return [range];
    return [range, `mail ${registrableDomain(mailDomain) ?? mailDomain}`];
}

function rangeOf(address: string): string {
    const parsed = ipaddr.process(address);
    const isIpv4 = parsed.kind() === 'ipv4';
    return `range ${parsed
        .toByteArray()
        .slice(0, isIpv4 ? 3 : 6)
        .join('.')}${isIpv4 ? '/24' : '/48'}`;
}
