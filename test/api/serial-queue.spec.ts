import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { installGate } from '../../api/admission/gate.ts';
import { serialQueue } from '../../api/admission/serial-queue.ts';
import { watchSlowReaders } from '../../api/admission/slow-readers.ts';
import { eventually } from '../support/eventually.ts';

const STALL_MS = 100;

describe('a client that pipelines requests on one connection', () => {
    let server: Server;
    let inside = 0;
    let peak = 0;
    let begun = 0;
    /** The response of `/held` waits for it. */
    let held: PromiseWithResolvers<void>;

    beforeEach(async () => {
        [inside, peak, begun] = [0, 0, 0];
        held = Promise.withResolvers();
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
        server.route({ method: 'GET', path: '/held', handler: () => held.promise.then(() => 'held') });
        watchSlowReaders(server, { warn: () => {} }, { stallMs: STALL_MS });
        installGate(server, [serialQueue()]);
        await server.start();
    });
    afterEach(() => server.stop({ timeout: 0 }));

    const open = (localAddress = '127.0.0.1') =>
        connect({ port: Number(server.info.port), host: '127.0.0.1', localAddress }).on('error', () => undefined);
    const ahead = (count: number) => Array.from({ length: count }, (_, at) => `GET /${at} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');
    const last = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

    async function textFrom(requests: string, from?: string): Promise<string> {
        const caller = open(from);
        caller.write(requests);
        let text = '';
        for await (const chunk of caller) text += chunk;
        return text;
    }

    it('gets responses in order, with one request processed at a time', async () => {
        const text = await textFrom(ahead(50) + last);
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

    it('is disconnected while very many requests wait on all connections, unless only one of its own waits or few of its address', async () => {
        let arrived = 0;
        server.listener.on('request', () => (arrived += 1));
        const crowd = Array.from({ length: 15 }, () => open());
        const ended = crowd.map((caller) => once(caller.resume(), 'close'));
        let closed = 0;
        for (const end of ended) void end.then(() => (closed += 1));
        for (const caller of crowd) caller.write(`GET /held HTTP/1.1\r\nHost: x\r\n\r\n${ahead(89)}${last}`);
        await eventually(
            async () => closed,
            (count) => count === 4,
        );
        expect(arrived).to.be.within(1000, 1030);
        const greedy = open();
        greedy.resume().write(ahead(20));
        await once(greedy, 'close');
        expect(await textFrom(`${ahead(1)}${last}`)).to.include('answer last;');
        expect(await textFrom(`${ahead(20)}${last}`, '127.0.0.2')).to.include('answer last;');
        held.resolve();
        await Promise.all(ended);
        expect(await textFrom(ahead(50) + last)).to.include('answer last;');
    });

    it('may wait for a slow response after a fast one', async () => {
        const text = await textFrom(`${ahead(1)}GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
        expect(text).to.match(/answer 0;[\s\S]*late$/);
    });

    it('does not delay clients on other connections', async () => {
        const callers = Array.from({ length: 3 }, () => open());
        for (const caller of callers) caller.write(last);
        for (const caller of callers) {
            let text = '';
            for await (const chunk of caller) text += chunk;
            expect(text).to.include('answer last;');
        }
    });
});
