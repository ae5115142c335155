import type { Endpoint } from '../types.ts';
import { hostsOfEndpoint } from './hosts.ts';

/**
 * How long the requests of one call take at least, in milliseconds, where each waits for a turn of its host; 0 without a pace.
 * @param paces requests a minute by host
 */
export function pacedMs(endpoint: Pick<Endpoint, 'url' | 'prepare'>, paces: Readonly<Record<string, number>>): number {
    const distances = hostsOfEndpoint(endpoint).map((host) => (Object.hasOwn(paces, host) ? 60_000 / (paces[host] ?? 1) : 0));
    const requests = 1 + (endpoint.prepare?.length ?? 0);
    return requests * Math.max(...distances);
}
