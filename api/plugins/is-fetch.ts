import type { IncomingMessage } from 'node:http';
import { postFetch } from '../../shared/contracts/fetch.ts';

/** Whether a request that hapi has not looked at yet is a fetch. */
export function isFetch({ method, url = '' }: IncomingMessage): boolean {
    return method === postFetch.method && (url === postFetch.path || url.startsWith(`${postFetch.path}?`));
}
