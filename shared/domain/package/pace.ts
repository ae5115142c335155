import type { Endpoint } from '../types.ts';
import { hostsOfEndpoint } from './hosts.ts';

/**
 * The minimum duration of one call in milliseconds, if each request waits for a turn of its host; 0 without a rate limit.
 * @param paces requests a minute by host
 */
export function pacedMs(endpoint: Pick<Endpoint, 'url' | 'prepare'>, paces: Readonly<Record<string, number>>): number {
    const distances = hostsOfEndpoint(endpoint).map((host) => (Object.hasOwn(paces, host) ? 60_000 / (paces[host] ?? 1) : 0));
    const requests = 1 + (endpoint.prepare?.length ?? 0);
    return requests * Math.max(...distances);
}
