import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { installGate } from '../../api/admission/gate.ts';
import { serialQueue } from '../../api/admission/serial-queue.ts';
import { watchSlowReaders } from '../../api/admission/slow-readers.ts';

const STALL_MS = 100;

describe('a client that pipelines requests on one connection', () => {
    let server: Server;
    let inside = 0;
    let peak = 0;
    let begun = 0;

    beforeEach(async () => {
        [inside, peak, begun] = [0, 0, 0];
        server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
        server.ext('onRequest', (_request, h) => {
            begun += 1;
            peak = Math.max(peak, ++inside);
            return h.continue;
        });
        server.route({
            method: 'GET',
            path: '/{number}',
            handler: async ({ params }) => {
                await turn();
                inside -= 1;
                return `answer ${params['number']};`;
            },
        });
        server.route({
            method: 'GET',
            path: '/late',
            handler: async () => {
                await new Promise((done) => setTimeout(done, 3 * STALL_MS));
                return 'late';
            },
        });
        watchSlowReaders(server, { warn: () => {} }, { stallMs: STALL_MS });
        installGate(server, [serialQueue()]);
        await server.start();
    });
    afterEach(() => server.stop({ timeout: 0 }));

    const open = () => connect(Number(server.info.port), '127.0.0.1').on('error', () => undefined);
    const ahead = (count: number) => Array.from({ length: count }, (_, at) => `GET /${at} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');
    const last = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

    it('gets responses in order, with one request processed at a time', async () => {
        const caller = open();
        caller.write(ahead(50) + last);
        let text = '';
        for await (const chunk of caller) text += chunk;
        const answers = [...text.matchAll(/answer (\w+);/g)].map(([, number]) => number);
        expect(answers).to.deep.equal([...Array.from({ length: 50 }, (_, at) => String(at)), 'last']);
        expect(peak).to.equal(1);
    });

    it('is disconnected if it pipelines too many, and no more of them start', async () => {
        const caller = open();
        caller.resume().write(ahead(500));
        await once(caller, 'close');
        expect(begun).to.equal(1);
    });

    it('is read no further once it pipelined too many, not even in the same packet', async () => {
        let arrived = 0;
        server.listener.on('request', () => (arrived += 1));
        const caller = open();
        caller.resume().write(ahead(1800));
        await once(caller, 'close');
        expect(arrived).to.be.within(100, 110);
    });

    it('may wait for a slow response after a fast one', async () => {
        const caller = open();
        caller.write(`${ahead(1)}GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
        let text = '';
        for await (const chunk of caller) text += chunk;
        expect(text).to.match(/answer 0;[\s\S]*late$/);
    });

    it('does not delay clients on other connections', async () => {
        const callers = Array.from({ length: 3 }, open);
        for (const caller of callers) caller.write(last);
        for (const caller of callers) {
            let text = '';
            for await (const chunk of caller) text += chunk;
            expect(text).to.include('answer last;');
        }
    });
});
