import type { IncomingMessage } from 'node:http';

/** How often a header (in lower case) stands in a request. Node keeps one value of most; requests that we make ourselves have no raw ones. */
export function headerCopies(message: IncomingMessage, name: string): number {
    const { rawHeaders, headers }: { rawHeaders?: string[]; headers: IncomingMessage['headers'] } = message;
    if (rawHeaders === undefined) return headers[name] === undefined ? 0 : 1;
    return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}
