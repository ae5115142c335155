import type { IncomingMessage } from 'node:http';
import { newId } from '../../shared/domain/text/ids.ts';

const OWN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The id that the caller gave the request, where it has the form of one, or a new one. */
export function requestIdOf({ headers: { 'x-request-id': given } }: IncomingMessage): string {
    return typeof given === 'string' && OWN_ID.test(given) ? given : newId('req');
}
