import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { GuardedAgent } from '../../workers/egress/agent.ts';
import { eventually } from '../support/eventually.ts';

const answer = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('a keep-alive connection to a site', () => {
    const sockets: Socket[] = [];
    let site: Server;
    let url: URL;
    let agent: GuardedAgent;

    before(async () => {
        // Nagle's algorithm would delay the surplus bytes until the client acknowledges the response with its next request.
        site = createServer({ noDelay: true }, (socket) => {
            const place = sockets.push(socket) - 1;
            socket.on('error', () => undefined).on('data', () => socket.write(answer(`connection ${place}`)));
        });
        await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
        const address = site.address();
        url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`);
        agent = new GuardedAgent('http', {
            connect: async ({ host, port }) => connect({ host, port }),
        });
    });
    after(async () => {
        agent.destroy();
        for (const socket of sockets) socket.destroy();
        await new Promise((closed) => site.close(closed));
    });

    it('is reused, but never after the site sent unexpected bytes, however late they are noticed', async () => {
        expect(await call()).to.equal('connection 0');
        await kept();
        expect(await call()).to.equal('connection 0');
        await kept();
        // The bytes have arrived when the next call begins, and were not read yet.
        sockets[0]?.write(answer('poisoned'));
        expect(await call()).to.equal('connection 1');
    });

    const kept = () =>
        eventually(
            async () => Object.values(agent.freeSockets).flat().length,
            (count) => count === 1,
        );

    async function call(): Promise<string> {
        const request = agent.request(url, { method: 'GET', headers: {} }, { whenOver: () => () => undefined });
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        request.on('error', reject).on('response', async (response) => {
            let text = '';
            for await (const chunk of response) text += chunk;
            resolve(text);
        });
        request.end();
        return promise;
    }
});
