import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { eventLoopTurns, fetchShareOf } from '../../api/admission/event-loop-turns.ts';
import { installGate } from '../../api/admission/gate.ts';
import type { App } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';

const MANY = 40;
const WORK_MS = 4;

function workFor(ms: number): void {
    const end = performance.now() + ms;
    while (performance.now() < end);
}

describe('concurrent requests of many connections', () => {
    let server: Server;
    let sockets: Socket[];
    /** The requests that started in each turn of the event loop. */
    let turns: string[][];
    let isOver = false;

    before(async () => {
        server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
        const app = { config: { trustProxy: 0 } } as App;
        const began = (what: string) => {
            if (what === 'fetch') fetchShareOf(app).noteFetch();
            turns.at(-1)?.push(what);
            workFor(WORK_MS);
            return 'done';
        };
        server.route([
            { method: 'GET', path: '/page', handler: () => began('page') },
            { method: 'POST', path: '/v1/fetch', options: { app: { contract: postFetch } as never }, handler: () => began('fetch') },
        ]);
        installGate(server, [eventLoopTurns(app)]);
        await server.start();
        turns = [[]];
        sockets = Array.from({ length: MANY }, () => connect(Number(server.info.port), '127.0.0.1'));
        await Promise.all(sockets.map((socket) => once(socket, 'connect')));
        const count = () => {
            if (isOver) return;
            turns.push([]);
            setImmediate(count);
        };
        count();
    });
    after(async () => {
        isOver = true;
        for (const socket of sockets) socket.destroy();
        await server.stop({ timeout: 0 });
    });

    /** All connections send a request and get a response. */
    async function sendAll(requestOf: (place: number) => string): Promise<void> {
        const answered = sockets.map((socket) => once(socket, 'data'));
        for (const [place, socket] of sockets.entries()) socket.write(requestOf(place));
        // All of them have arrived when the event loop polls.
        workFor(20);
        await Promise.all(answered);
    }

    it('start a few in a turn of the event loop, and all are answered', async () => {
        await sendAll(() => 'GET /page HTTP/1.1\r\nHost: x\r\n\r\n');
        turns.splice(0, turns.length - 1);
        await sendAll(() => 'GET /page HTTP/1.1\r\nHost: x\r\n\r\n');
        expect(turns.flat()).to.have.length(MANY);
        // Two within 5 ms, and the first that waits.
        for (const begun of turns) expect(begun.length).to.be.at.most(3);
    });

    it('start fetches at once', async () => {
        turns.splice(0, turns.length - 1);
        await sendAll((place) =>
            place === MANY - 1
                ? 'POST /v1/fetch HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'
                : 'GET /page HTTP/1.1\r\nHost: x\r\n\r\n',
        );
        expect(turns.flat().indexOf('fetch')).to.be.below(8);
        expect(turns.flat()).to.have.length(MANY);
    });

    it('leave turns to the fetches between them', async () => {
        const emptyTurns = () => turns.filter((begun) => begun.length === 0).length;
        turns.splice(0, turns.length - 1);
        await sendAll((place) =>
            place === 0 ? 'POST /v1/fetch HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n' : 'GET /page HTTP/1.1\r\nHost: x\r\n\r\n',
        );
        expect(emptyTurns()).to.be.above(2 * MANY);
    });
});
