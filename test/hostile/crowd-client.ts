import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';

/** The response. Status 0: the connection ended without one. */
export interface Heard {
    status: number;
    text: string;
    cookies: readonly string[];
}

interface Sending {
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    /** The source address. */
    from?: string;
}

/** An address of 127.2.0.0/16, which rate limits count as a client of its own. */
export function clientNumber(number: number): string {
    return `127.2.${(number >> 8) % 256}.${(number % 254) + 1}`;
}

/** A name that was not used before. */
export function freshName(): string {
    return randomBytes(8).toString('hex');
}

/** Sends requests to one API, each on a new connection or a kept one. */
export function createSender(base: string, until: AbortSignal) {
    const agent = new Agent({ keepAlive: true, maxFreeSockets: 512 });
    until.addEventListener('abort', () => agent.destroy(), { once: true });

    const send = (path: string, { method = 'GET', headers = {}, body, from = clientNumber(0) }: Sending = {}): Promise<Heard> =>
        new Promise((resolve) => {
            const none = () => resolve({ status: 0, text: '', cookies: [] });
            if (until.aborted) return none();
            const sent = request(new URL(path, base), { method, agent, headers, localAddress: from, signal: until }, (response) => {
                const chunks: Buffer[] = [];
                response.on('data', (chunk: Buffer) => chunks.push(chunk));
                response.on('error', none);
                response.on('end', () =>
                    resolve({
                        status: response.statusCode ?? 0,
                        text: Buffer.concat(chunks).toString('utf8'),
                        cookies: response.headers['set-cookie'] ?? [],
                    }),
                );
            });
            sent.on('error', none);
            sent.end(body);
        });

    return {
        until,
        send,
        /** Sends JSON with a key, or without one. */
        call: (method: string, path: string, { apiKey, body, from }: { apiKey?: string; body?: object; from?: string } = {}) =>
            send(path, {
                method,
                headers: {
                    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
                    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
                },
                ...(body === undefined ? {} : { body: JSON.stringify(body) }),
                ...(from === undefined ? {} : { from }),
            }),
        openBrowser: (from: string) => openBrowser(send, from),
    };
}

/** Submits the forms of pages, and keeps their cookies. */
function openBrowser(send: (path: string, sending: Sending) => Promise<Heard>, from: string) {
    const jar = new Map<string, string>();
    const keep = ({ cookies }: Heard) => {
        for (const line of cookies) {
            const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
            jar.set(name, value);
        }
    };
    const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    let token = '';
    return {
        /** Opens a page whose form has the token for the next requests. */
        async open(path: string): Promise<void> {
            const heard = await send(path, { from, headers: { cookie: cookie() } });
            keep(heard);
            token = /name="_form" value="([^"]*)"/.exec(heard.text)?.[1] ?? '';
        },
        async submit(path: string, fields: Record<string, string>): Promise<Heard> {
            const heard = await send(path, {
                method: 'POST',
                from,
                headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: cookie() },
                body: new URLSearchParams({ _form: token, ...fields }).toString(),
            });
            keep(heard);
            return heard;
        },
    };
}
