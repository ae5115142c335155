import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { watchSlowReaders } from '../../api/admission/slow-readers.ts';
import { eventually } from '../support/eventually.ts';

/** Caller and server share this process, which a busy machine keeps waiting. */
const STALL_MS = 1500;

describe('a caller who reads slowly', () => {
    let server: Server;
    before(async () => {
        server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
        watchSlowReaders(server, { warn: () => {} }, { stallMs: STALL_MS });
        // Far more than the buffers of both ends hold.
        const large = 'x'.repeat(64 * 1024 * 1024);
        server.route({ method: 'GET', path: '/large', handler: () => large });
        server.route({ method: 'GET', path: '/small', handler: () => 'small' });
        server.route({
            method: 'GET',
            path: '/late',
            handler: async () => {
                await new Promise((done) => setTimeout(done, 1.5 * STALL_MS));
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

describe('callers who together keep more answers waiting than the process has room for', () => {
    const MIB = 1024 * 1024;
    let server: Server;
    const warned: object[] = [];
    before(async () => {
        server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
        const warn = (fields: object) => void warned.push(fields);
        watchSlowReaders(server, { warn }, { stallMs: 60_000, budgetBytes: 100 * MIB, everyMs: 50 });
        const large = 'x'.repeat(32 * MIB);
        server.route({ method: 'GET', path: '/large', handler: () => large });
        server.route({ method: 'GET', path: '/small', handler: () => 'small' });
        await server.start();
    });
    after(() => server.stop({ timeout: 0 }));

    it('lose their connections, those who have waited longest first, and everybody else goes on', async () => {
        const order: number[] = [];
        const callers: Socket[] = [];
        for (let index = 0; index < 8; index++) {
            const asked = once(server.listener, 'request') as Promise<[IncomingMessage]>;
            const caller = connect(Number(server.info.port), '127.0.0.1').on('error', () => undefined);
            callers.push(caller);
            caller.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
            const [{ socket }] = await asked;
            socket.once('close', () => order.push(index));
        }
        // Eight times what the buffers of the network do not take, of 32 MiB each: three fit.
        await eventually(
            async () => order.length,
            (length) => length >= 4,
        );
        // Of those that are cut together the last is closed first.
        expect(order.toSorted()).to.deep.equal(Array.from(order, (_, index) => index));
        expect(warned.length).to.be.at.least(1);
        expect(await (await fetch(`${server.info.uri}/small`)).text()).to.equal('small');
        expect(order).not.to.include(7);
        for (const caller of callers) caller.destroy();
    });
});
