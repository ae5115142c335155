import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { watchSlowReaders } from '../../api/admission/slow-readers.ts';
import { eventually } from '../support/eventually.ts';

/** Caller and server share this process, which a busy machine may delay. */
const STALL_MS = 1500;

describe('a caller who reads slowly', () => {
    let server: Server;
    before(async () => {
        server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
        watchSlowReaders(server, { warn: () => {} }, { stallMs: STALL_MS });
        // Far more than the socket buffers of both ends hold.
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

    it('and then stops is disconnected, and the memory of its response is released', async () => {
        const accepted = once(server.listener, 'connection') as Promise<[Socket]>;
        const caller = connect(Number(server.info.port), '127.0.0.1').on('error', () => undefined);
        caller.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
        const [socket] = await accepted;
        await once(socket, 'close');
        caller.destroy();
    });

    it('gets the complete response as long as it makes progress', async () => {
        const answer = await fetch(`${server.info.uri}/large`, { headers: { 'accept-encoding': 'identity' } });
        let bytes = 0;
        for await (const chunk of answer.body ?? []) bytes += chunk.length;
        expect(bytes).to.equal(64 * 1024 * 1024);
    });

    it('may wait longer than that for a response, also behind another one', async () => {
        const caller = connect(Number(server.info.port), '127.0.0.1');
        caller.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        let text = '';
        for await (const chunk of caller) text += chunk;
        expect(text).to.match(/small[\s\S]*late$/);
    });
});

describe('callers whose unread responses exceed the memory budget of the process', () => {
    const MIB = 1024 * 1024;
    let server: Server;
    const warned: object[] = [];
    before(async () => {
        server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
        const warn = (fields: object) => void warned.push(fields);
        watchSlowReaders(server, { warn }, { stallMs: 60_000, budgetBytes: 100 * MIB, everyMs: 500 });
        const large = 'x'.repeat(32 * MIB);
        server.route({ method: 'GET', path: '/large', handler: () => large });
        server.route({ method: 'GET', path: '/small', handler: () => 'small' });
        const endless = async function* () {
            for (;;) yield 'x'.repeat(64 * 1024);
        };
        server.route({ method: 'GET', path: '/endless', handler: () => Readable.from(endless(), { objectMode: false }) });
        await server.start();
    });
    after(() => server.stop({ timeout: 0 }));

    it('lose a response that they do not read before one that began earlier and that they read', async () => {
        const callers: Socket[] = [];
        let [closed, received] = [0, 0];
        const begin = async (onClose: () => void) => {
            const asked = once(server.listener, 'request') as Promise<[IncomingMessage]>;
            const caller = connect(Number(server.info.port), '127.0.0.1').on('error', () => undefined);
            callers.push(caller);
            caller.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n');
            const [{ socket }] = await asked;
            socket.once('close', onClose);
            return caller;
        };
        let isReaderCut = false;
        const reader = await begin(() => {
            isReaderCut = true;
        });
        reader.on('data', (data) => {
            received += data.length;
        });
        for (let count = 0; count < 105; count++)
            (
                await begin(() => {
                    closed += 1;
                })
            ).pause();
        await eventually(
            async () => closed,
            (count) => count >= 5,
        );
        const before = received;
        await eventually(
            async () => received,
            (bytes) => bytes > before,
        );
        expect(isReaderCut).to.equal(false);
        for (const caller of callers) caller.destroy();
    });

    it('are disconnected, the longest stalled first, and everybody else is served', async () => {
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
        // Each response exceeds the socket buffers by 32 MiB. Eight wait, and three fit.
        await eventually(
            async () => order.length,
            (length) => length >= 4,
        );
        // Of those that are closed together, the last one closes first.
        expect(order.toSorted()).to.deep.equal(Array.from(order, (_, index) => index));
        expect(warned.length).to.be.at.least(1);
        expect(await (await fetch(`${server.info.uri}/small`)).text()).to.equal('small');
        expect(order).not.to.include(7);
        for (const caller of callers) caller.destroy();
    });

    it('are disconnected before a caller from another address who has waited longer and for less', async () => {
        const callers: Socket[] = [];
        const closed: string[] = [];
        const begin = async (localAddress: string) => {
            const asked = once(server.listener, 'request') as Promise<[IncomingMessage]>;
            const options = { port: Number(server.info.port), host: '127.0.0.1', localAddress };
            const caller = connect(options).on('error', () => undefined);
            callers.push(caller);
            caller.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
            const [{ socket }] = await asked;
            socket.once('close', () => closed.push(localAddress));
        };
        await begin('127.0.0.2');
        for (let count = 0; count < 6; count++) await begin('127.0.0.3');
        await eventually(
            async () => closed.length,
            (length) => length >= 4,
        );
        expect(closed).not.to.include('127.0.0.2');
        for (const caller of callers) caller.destroy();
    });
});
