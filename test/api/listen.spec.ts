import { deepStrictEqual, rejects, strictEqual } from 'node:assert';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { listen, SOCKETS } from '../../api/listen.ts';

const HOST = '127.0.0.1';

describe('a port of the API', () => {
    const newcomers: Socket[] = [];
    afterEach(() => {
        for (const socket of newcomers.splice(0)) socket.destroy();
    });

    /** Over a connection of its own. */
    async function textOf(port: number): Promise<string> {
        const answer = await fetch(`http://${HOST}:${port}/`, { headers: { connection: 'close' } });
        return answer.text();
    }

    function arrive(port: number, count: number): Promise<unknown> {
        const connected = Array.from({ length: count }, () => {
            const socket = connect(port, HOST);
            newcomers.push(socket);
            return new Promise((resolve) => socket.once('connect', resolve));
        });
        return Promise.all(connected);
    }

    it('lets a crowd in within a few turns of a busy loop, not one a turn', async function () {
        if (SOCKETS === 1) this.skip();
        const server = createServer();
        let accepted = 0;
        server.on('connection', () => accepted++);
        const listening = await listen(server, { host: HOST, port: 0 }, 10_000);
        const crowd = 200;
        const arrived = arrive(listening.port, crowd);
        let turns = 0;
        for (; accepted < crowd; turns++) await nextTurn();
        await arrived;
        strictEqual(turns < crowd / 2, true, `${turns} turns for ${crowd} newcomers`);
        listening.close();
    });

    it('takes nobody in after it closed, answers who is in, and ends with the last of them', async () => {
        const held: (() => void)[] = [];
        const server = createServer((_request, response) => held.push(() => response.end('well')));
        const { port, close, ended } = await listen(server, { host: HOST, port: 0 }, 10_000);
        const count = 64;
        const answers = Promise.all(Array.from({ length: count }, () => textOf(port)));
        while (held.length < count) await nextTurn();
        close();
        let isOver = false;
        const end = ended().then(() => {
            isOver = true;
        });
        await rejects(textOf(port));
        strictEqual(isOver, false);
        for (const answer of held) answer();
        deepStrictEqual(new Set(await answers), new Set(['well']));
        await end;
    });

    it('is not shared with somebody who would share it', async () => {
        const first = await listen(createServer(), { host: HOST, port: 0 }, 10_000);
        const second = await listen(createServer(), { host: HOST, port: first.port }, 10_000).then(
            () => 'taken too',
            (error: NodeJS.ErrnoException) => error.code,
        );
        strictEqual(second, 'EADDRINUSE');
        first.close();
    });
});
