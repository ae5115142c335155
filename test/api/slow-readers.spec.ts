import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { slowReaders } from '../../api/plugins/slow-readers.ts';

const STALL_MS = 300;

describe('a caller who reads slowly', () => {
    let server: Server;
    before(async () => {
        server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
        slowReaders(server, STALL_MS);
        // Far more than the buffers of both ends hold.
        const large = 'x'.repeat(64 * 1024 * 1024);
        server.route({ method: 'GET', path: '/large', handler: () => large });
        server.route({ method: 'GET', path: '/small', handler: () => 'small' });
        server.route({
            method: 'GET',
            path: '/late',
            handler: async () => {
                await new Promise((done) => setTimeout(done, 2 * STALL_MS));
                return 'late';
            },
        });
        await server.start();
    });
    after(() => server.stop({ timeout: 0 }));

    it('and then not at all loses the connection, and the answer its place in memory', async () => {
        const accepted = once(server.listener, 'connection') as Promise<[Socket]>;
        const caller = connect(Number(server.info.port), '127.0.0.1').on('error', () => undefined);
        caller.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
        const [socket] = await accepted;
        await once(socket, 'close');
        caller.destroy();
    });

    it('gets the whole answer as long as something goes on', async () => {
        const answer = await fetch(`${server.info.uri}/large`, { headers: { 'accept-encoding': 'identity' } });
        let bytes = 0;
        for await (const chunk of answer.body ?? []) bytes += chunk.length;
        expect(bytes).to.equal(64 * 1024 * 1024);
    });

    it('may wait longer than that for an answer, also behind another one', async () => {
        const caller = connect(Number(server.info.port), '127.0.0.1');
        caller.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        let text = '';
        for await (const chunk of caller) text += chunk;
        expect(text).to.match(/small[\s\S]*late$/);
    });
});
