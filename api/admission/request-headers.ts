import type { IncomingMessage } from 'node:http';
import { newId } from '../../shared/domain/text/ids.ts';

const OWN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The request id of the caller if it is well-formed, otherwise a new id. */
export function requestIdOf({ headers: { 'x-request-id': given } }: IncomingMessage): string {
    return typeof given === 'string' && OWN_ID.test(given) ? given : newId('req');
}

/** How often a header (in lower case) occurs. Node keeps one value of most headers. Internal requests have no raw headers. */
export function headerCopies(message: IncomingMessage, name: string): number {
    const { rawHeaders, headers }: { rawHeaders?: string[]; headers: IncomingMessage['headers'] } = message;
    if (rawHeaders === undefined) return headers[name] === undefined ? 0 : 1;
    return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

/** The bearer key of an Authorization header, unchecked; undefined if there is none. */
export function bearerKey(header: string): string | undefined {
    // RFC 9110, section 11.4, allows more than one space.
    return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header.trim())?.[1];
}
