import type { IncomingMessage } from 'node:http';

/**
 * Counts how often a header (in lower case) occurs in a request. Node keeps only one value of most headers. Internal requests have no raw
 * headers.
 */
export function headerCopies(message: IncomingMessage, name: string): number {
    const { rawHeaders, headers }: { rawHeaders?: string[]; headers: IncomingMessage['headers'] } = message;
    if (rawHeaders === undefined) return headers[name] === undefined ? 0 : 1;
    return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}
