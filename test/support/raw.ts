import { connect } from 'node:net';
import type { Answer } from './people.ts';

/** Sends exactly these bytes and reads the first answer; undefined if the connection ended without one. */
export async function sendRaw(base: string, bytes: string | Buffer, { waitMs = 5000 } = {}): Promise<Answer | undefined> {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    const { promise: over, resolve, reject } = Promise.withResolvers<void>();
    socket.setTimeout(waitMs, () => reject(new Error('neither an answer nor an end in time')));
    socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (readAnswer(Buffer.concat(chunks)) !== undefined) resolve();
    });
    // A server that closes the connection may reset it. This counts as an end too.
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.write(bytes);
    await over.finally(() => socket.destroy());
    return readAnswer(Buffer.concat(chunks));
}

/** A complete request with these header lines. */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): Buffer {
    const text = [line, 'Host: api.example', ...headers, 'Connection: close'].join('\r\n');
    return Buffer.concat([Buffer.from(`${text}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
}

function readAnswer(bytes: Buffer): Answer | undefined {
    const end = bytes.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const [line = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
    const headers = new Headers();
    for (const header of lines) headers.append(header.slice(0, header.indexOf(':')), header.slice(header.indexOf(':') + 1).trim());
    const body = bytes.subarray(end + 4);
    const length = Number(headers.get('content-length') ?? 0);
    if (body.length < length) return undefined;
    const text = body.subarray(0, length).toString();
    const isJson = headers.get('content-type')?.includes('json') === true && text !== '';
    return { status: Number(line.split(' ')[1]), headers, body: isJson ? JSON.parse(text) : { text } };
}
