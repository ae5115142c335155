import type { IncomingMessage } from 'node:http';
import { headerCopies } from './header-copies.ts';

/** What stands in the one Authorization header as a bearer key, whatever it is worth; undefined where nothing of this form does. */
export function bearerKey(message: IncomingMessage): string | undefined {
    const { authorization = '' } = message.headers;
    if (headerCopies(message, 'authorization') > 1) return undefined;
    return /^bearer ([\x21-\x7e]{1,256})$/i.exec(authorization.trim())?.[1];
}
