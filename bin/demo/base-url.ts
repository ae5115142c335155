import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The URL at which a program on this machine reaches a server on HOST: with `localhost` if HOST is unset or means every interface. */
export function baseUrl(host: string | undefined, port: number): string {
    if (host === undefined || isWildcard(host)) return `http://localhost:${port}`;
    return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Whether a host is `0.0.0.0` or `::`, in any spelling. */
function isWildcard(host: string): boolean {
    return ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified';
}
