import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { type Config, readConfig } from '../../shared/platform/config.ts';
import { eventually } from '../support/eventually.ts';
import { openWorld, type World } from '../support/world.ts';

const REQUEST = 'GET /livez HTTP/1.1\r\nHost: api.example\r\n\r\n';

describe('connections of one client', () => {
    let world: World;
    let sockets: Socket[];

    beforeEach(() => {
        sockets = [];
    });
    afterEach(async () => {
        for (const socket of sockets) socket.destroy();
        await world.close();
    });

    async function open(config: Partial<Config>): Promise<void> {
        world = await openWorld({ workers: 0, config });
    }

    async function connectFrom(localAddress: string): Promise<Socket> {
        const socket = connect({ port: Number(new URL(world.base).port), host: '127.0.0.1', localAddress });
        socket.on('error', () => undefined);
        socket.resume();
        sockets.push(socket);
        await once(socket, 'connect');
        return socket;
    }
    const connectAll = (count: number, localAddress: string) => Promise.all(Array.from({ length: count }, () => connectFrom(localAddress)));
    const openOnes = () => sockets.filter(({ destroyed }) => !destroyed).length;

    /** The status of the response on this connection, or 0 if it ended without one. */
    function ask(socket: Socket, text = REQUEST): Promise<number> {
        socket.write(text);
        return new Promise((resolve) => {
            socket.once('data', (chunk: Buffer) => resolve(Number(chunk.toString('latin1').slice(9, 12))));
            socket.once('close', () => resolve(0));
            if (socket.destroyed) resolve(0);
        });
    }

    async function refused(reason: string): Promise<number> {
        const { values } = await world.app.metrics.connectionsRefused.get();
        return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
    }

    it('are 512 at most: one more is closed without a response, and other clients are served', async () => {
        await open({ clientConnections: readConfig({}).clientConnections });
        await connectAll(600, '127.0.0.2');
        await eventually(
            async () => openOnes(),
            (count) => count === 512,
        );
        expect(await refused('open')).to.equal(88);
        expect(await ask(await connectFrom('127.0.0.2'))).to.equal(0);
        expect(await ask(await connectFrom('127.0.0.3'))).to.equal(200);
    });

    it('that ended make room for new ones', async () => {
        await open({ clientConnections: 3 });
        const [first] = await connectAll(3, '127.0.0.2');
        expect(await ask(await connectFrom('127.0.0.2'))).to.equal(0);
        first?.destroy();
        await eventually(
            async () => ask(await connectFrom('127.0.0.2')),
            (status) => status === 200,
        );
    });

    it('are 128 new ones a second at most; more are accepted in the next second', async () => {
        await open({ clientConnectionsPerSecond: readConfig({}).clientConnectionsPerSecond });
        await connectAll(400, '127.0.0.2');
        // They may have come in two seconds, or in three on a busy machine.
        await eventually(
            async () => ({ open: openOnes(), refused: await refused('rate') }),
            (seen) => seen.refused >= 16 && seen.open + seen.refused === 400,
        );
        expect(await ask(await connectFrom('127.0.0.3'))).to.equal(200);
        await eventually(
            async () => ask(await connectFrom('127.0.0.2')),
            (status) => status === 200,
        );
    });

    it('that are idle are closed, the longest first, once the listener is four fifths full', async () => {
        await open({ maxConnections: 20 });
        const idle: Socket[] = [];
        const [busy, uploading] = [await connectFrom('127.0.0.3'), await connectFrom('127.0.0.3')];
        const head = 'POST /v1/schema-requests HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n';
        // Their bodies do not come, so the requests are still being read. Programs such as curl ask first whether a large one may come.
        busy.write(`${head}\r\n{`);
        expect(await ask(uploading, `${head}Expect: 100-continue\r\n\r\n`)).to.equal(100);
        for (let index = 0; index < 14; index++) idle.push(await connectFrom('127.0.0.2'));
        expect(await ask(idle[0] as Socket)).to.equal(200);
        // The first one was just used, so the second has been idle for longest.
        for (let index = 0; index < 5; index++) expect(await ask(await connectFrom('127.0.0.4'))).to.equal(200);
        await eventually(
            async () => idle.map(({ destroyed }) => destroyed),
            (ended) => ended.indexOf(false) === 0 && ended.filter(Boolean).length >= 5,
        );
        expect(idle.map(({ destroyed }) => destroyed)).to.deep.equal([false, ...Array(5).fill(true), ...Array(8).fill(false)]);
        expect([busy.destroyed, uploading.destroyed]).to.deep.equal([false, false]);
        expect(await refused('idle')).to.equal(5);
    });
});

describe('the limits of connections', () => {
    it('are off by default behind a proxy, which has its own, and if they are set to 0', () => {
        const bounds = ({ clientConnections, clientConnectionsPerSecond }: Config) => [clientConnections, clientConnectionsPerSecond];
        expect(bounds(readConfig({}))).to.deep.equal([512, 128]);
        expect(bounds(readConfig({ TRUST_PROXY: '1' }))).to.deep.equal([0, 0]);
        expect(bounds(readConfig({ CLIENT_CONNECTIONS: '0', CLIENT_CONNECTIONS_PER_SECOND: '0' }))).to.deep.equal([0, 0]);
        const both = readConfig({ TRUST_PROXY: '1', CLIENT_CONNECTIONS: '64', CLIENT_CONNECTIONS_PER_SECOND: '8' });
        expect(bounds(both)).to.deep.equal([64, 8]);
    });
});
