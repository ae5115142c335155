import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Where a program on this machine reaches what listens on this host (HOST), every interface or the usual loopback. */
export function baseUrl(host: string | undefined, port: number): string {
    if (host === undefined || isWildcard(host)) return `http://localhost:${port}`;
    return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** `0.0.0.0` and `::` in all their spellings. */
function isWildcard(host: string): boolean {
    return ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified';
}
