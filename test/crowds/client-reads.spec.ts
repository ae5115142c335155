import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { clientReads } from '../../api/admission/client-reads.ts';
import { installGate } from '../../api/admission/gate.ts';
import type { App } from '../../shared/app.ts';
import { eventually } from '../support/eventually.ts';

const AT_A_TIME = 8;
const MANY = 30;
const APP = {
    config: { trustProxy: 0 },
    publicUrl: () => 'http://localhost',
    metrics: { httpRequests: { inc() {} } },
    log: { warn() {} },
} as unknown as App;

describe('reads from one client address', () => {
    let server: Server;
    let inside = 0;
    let letGo: () => void;
    let gate: Promise<void>;
    let agent: Agent;

    beforeEach(async () => {
        await serve();
    });
    afterEach(() => end());

    async function end() {
        letGo();
        agent.destroy();
        await server.stop({ timeout: 0 });
    }

    /** @param limits how long a read waits for the others, when one of these is slow, and when the process is busy: at 1 never */
    async function serve(limits: { patienceMs: number; slowMs: number; busyAbove?: number } = { patienceMs: 60_000, slowMs: 0 }) {
        inside = 0;
        ({ promise: gate, resolve: letGo } = Promise.withResolvers<void>());
        agent = new Agent();
        server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
        server.route({
            method: ['GET', 'POST'],
            path: '/',
            handler: async () => {
                inside += 1;
                await gate;
                return 'done';
            },
        });
        server.route({
            method: 'GET',
            path: '/large',
            handler: () => {
                inside += 1;
                // More than the buffers of a connection hold.
                return 'x'.repeat(12_000_000);
            },
        });
        installGate(server, [clientReads(server, APP, { busyAbove: 1, ...limits })]);
        await server.start();
    }

    it('with unread responses delay no other one of that address', async () => {
        letGo();
        const sockets = Array.from({ length: AT_A_TIME + 1 }, () => {
            const socket = connect(Number(server.info.port), '127.0.0.1');
            socket.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
            return socket;
        });
        try {
            await eventually(
                async () => inside,
                (count) => count === AT_A_TIME + 1,
            );
            expect(await ask('127.0.0.1')).to.equal(200);
        } finally {
            for (const socket of sockets) socket.destroy();
        }
    });

    async function ask(localAddress: string, method = 'GET', signal?: AbortSignal): Promise<number> {
        const sent = request(server.info.uri, { localAddress, agent, method, ...(signal === undefined ? {} : { signal }) }).end();
        const [response] = await once(sent, 'response');
        response.resume();
        await once(response, 'end');
        return response.statusCode;
    }
    const many = (count: number, ask: () => Promise<number>) => Array.from({ length: count }, ask);

    it('are eight at a time: the others wait, and all get their responses', async () => {
        const answers = many(MANY, () => ask('127.0.0.2'));
        await eventually(
            async () => inside,
            (count) => count === AT_A_TIME,
        );
        const others = many(3, () => ask('127.0.0.3'));
        await eventually(
            async () => inside,
            (count) => count === AT_A_TIME + 3,
        );
        const changes = many(3, () => ask('127.0.0.2', 'POST'));
        await eventually(
            async () => inside,
            (count) => count === AT_A_TIME + 6,
        );
        letGo();
        expect(new Set(await Promise.all([...answers, ...others, ...changes]))).to.deep.equal(new Set([200]));
        expect(inside).to.equal(MANY + 6);
    });

    it('are refused when they have waited too long for slow ones, and stay eight', async () => {
        await end();
        await serve({ patienceMs: 50, slowMs: 0 });
        const first = many(AT_A_TIME, () => ask('127.0.0.2'));
        await eventually(
            async () => inside,
            (count) => count === AT_A_TIME,
        );
        expect(new Set(await Promise.all(many(MANY, () => ask('127.0.0.2'))))).to.deep.equal(new Set([503]));
        expect(inside).to.equal(AT_A_TIME);
        letGo();
        expect(new Set(await Promise.all(first))).to.deep.equal(new Set([200]));
        expect(await ask('127.0.0.2')).to.equal(200);
    });

    for (const [why, limits] of [
        ['those before them are fast', { slowMs: 60_000 }],
        ['the process is busy', { slowMs: 0, busyAbove: -1 }],
    ] as const) {
        it(`wait on while ${why}`, async () => {
            await end();
            const patienceMs = 20;
            await serve({ patienceMs, ...limits });
            const began = performance.now();
            const answers = many(MANY, () => ask('127.0.0.2'));
            await eventually(
                async () => performance.now() - began,
                (ms) => inside === AT_A_TIME && ms > 5 * patienceMs,
            );
            letGo();
            expect(new Set(await Promise.all(answers))).to.deep.equal(new Set([200]));
        });
    }

    it('whose client disconnected are not served', async () => {
        const hangUp = new AbortController();
        const first = many(AT_A_TIME, () => ask('127.0.0.2'));
        await eventually(
            async () => inside,
            (count) => count === AT_A_TIME,
        );
        const abandoned = Promise.allSettled(many(MANY, () => ask('127.0.0.2', 'GET', hangUp.signal)));
        await eventually(
            () => connectionsOf(server),
            (count) => count === AT_A_TIME + MANY,
        );
        hangUp.abort();
        await abandoned;
        await eventually(
            () => connectionsOf(server),
            (count) => count === AT_A_TIME,
        );
        letGo();
        await Promise.all(first);
        expect(await ask('127.0.0.2')).to.equal(200);
        expect(inside).to.equal(AT_A_TIME + 1);
    });
});

function connectionsOf({ listener }: Server): Promise<number> {
    return new Promise((resolve, reject) => listener.getConnections((error, count) => (error === null ? resolve(count) : reject(error))));
}
