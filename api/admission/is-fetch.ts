import type { IncomingMessage } from 'node:http';
import { postFetch } from '../../shared/contracts/fetch.ts';

/** Whether a request is a fetch, before hapi has routed it. */
export function isFetch({ method, url = '' }: IncomingMessage): boolean {
    return method === postFetch.method && (url === postFetch.path || url.startsWith(`${postFetch.path}?`));
}
