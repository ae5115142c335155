import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Request } from '@hapi/hapi';
import { expect } from 'chai';
import { KeyedQueue } from '../../api/admission/keyed-queue.ts';
import { createBodyBudget, reserveBody } from '../../api/bodies/body-budget.ts';
import { openChunks } from '../../api/bodies/read-chunks.ts';
import { Refusal } from '../../shared/refusals.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { isWhole } from '../support/sample.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { openWorld, useWorld, type World } from '../support/world.ts';

const MIB = 1024 * 1024;

describe('the memory budget for large bodies', () => {
    let now = 0;
    const open = (maxBytes: number) => createBodyBudget({ maxBytes, now: () => now });
    const free = (owner: string, network = '192.0.2') => ({ owner, network, isFree: true });
    const paying = (owner: string, network = '198.51.100') => ({ owner, network, isFree: false });

    it('is freed first from the body that stalled the longest', () => {
        const room = open(10 * MIB);
        const gone: string[] = [];
        const enter = (name: string) => room.createReservation(free(name), () => gone.push(name));
        const [stalled, crumbs, brisk] = [enter('stalled'), enter('crumbs'), enter('brisk')];
        stalled.received(3 * MIB);
        now += 100;
        crumbs.received(3 * MIB);
        now += 1000;
        // A few bytes are no progress.
        stalled.received(10);
        crumbs.received(10);
        brisk.received(4 * MIB);
        expect(gone).to.deep.equal(['stalled']);
        brisk.received(4 * MIB);
        expect(gone).to.deep.equal(['stalled', 'crumbs']);
        expect(room.held()).to.equal(8 * MIB);
    });

    it('is freed next from the largest holder in the network with the most, complete or not, the youngest body first', () => {
        const room = open(20 * MIB);
        const gone: string[] = [];
        const enter = (sender: ReturnType<typeof free>, name: string) => room.createReservation(sender, () => gone.push(name));
        const honest = enter(free('honest', '203.0.113'), 'honest');
        honest.received(4 * MIB);
        for (const owner of ['a', 'b', 'b', 'c']) {
            const place = enter(free(owner), owner);
            place.received(4 * MIB);
            place.completed();
        }
        enter(free('late', '203.0.114'), 'late').received(4 * MIB);
        expect(gone).to.deep.equal(['b']);
    });

    it('is half reserved for the bodies of running calls, which are never dropped', () => {
        const room = open(20 * MIB);
        const gone: string[] = [];
        const call = (name: string) => {
            const place = room.createReservation(free(name), () => gone.push(name));
            place.received(2 * MIB);
            return { ...place, isRunning: place.tryToRun() };
        };
        const calls = Array.from({ length: 6 }, (_, at) => call(`call ${at}`));
        expect(calls.map(({ isRunning }) => isRunning)).to.deep.equal([true, true, true, true, true, false]);
        calls.at(-1)?.release();
        for (let at = 0; at < 10; at++) room.createReservation(free(`package ${at}`), () => gone.push(`package ${at}`)).received(4 * MIB);
        expect(gone.filter((name) => name.startsWith('call'))).to.deep.equal([]);
        expect(gone).to.have.length(8);
        expect(room.held()).to.equal(18 * MIB);
        calls[0]?.release();
        expect(call('next').isRunning).to.equal(true);
    });

    it('is half reserved for paying accounts, whatever others do', () => {
        const room = open(16 * MIB);
        const gone: string[] = [];
        const payer = room.createReservation(paying('payer'), () => gone.push('payer'));
        payer.received(7 * MIB);
        for (let at = 0; at < 100; at++) {
            const name = `free ${at}`;
            const place = room.createReservation(free(name, `10.0.${at}`), () => gone.push(name));
            place.received(3 * MIB);
            place.completed();
        }
        expect(gone).to.have.length(97).that.does.not.include('payer');
        payer.release();
        payer.release();
        expect(room.held()).to.equal(9 * MIB);
    });
});

describe('the memory of a body whose caller has left', () => {
    const requestOf = (owner: string, res: object) =>
        ({
            app: { clientAddress: '192.0.2.1' },
            auth: { credentials: { app: { accountId: owner, plan: 'pro' } } },
            raw: { req: {}, res },
        }) as unknown as Request;

    /** The response to a caller that left before anything was written. */
    async function closedResponse(): Promise<ServerResponse> {
        const server = createServer().listen(0, '127.0.0.1');
        await once(server, 'listening');
        const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
        caller.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n');
        const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
        caller.destroy();
        await once(response, 'close');
        server.close();
        return response;
    }

    const keepers: Record<string, (request: Request) => void> = {
        'arrived in chunks': (request) => openChunks(request, { maxBytes: 64 * MIB, pauseMs: 1000, allMs: 1000 }).keep(60 * MIB),
        'was complete': (request) => {
            const place = reserveBody(request, { maxBytes: 64 * MIB, isCall: true }, () => undefined);
            place.received(60 * MIB);
            expect(place.completed(60 * MIB)).to.equal(undefined);
        },
    };
    for (const [which, keep] of Object.entries(keepers)) {
        it(`is free at once, where the body ${which}`, async () => {
            keep(requestOf('gone', await closedResponse()));
            const dropped: Refusal[] = [];
            const place = reserveBody(requestOf('here', { once() {} }), { maxBytes: 64 * MIB }, (refusal) => dropped.push(refusal));
            place.received(100 * MIB);
            place.release();
            expect(dropped).to.deep.equal([]);
        });
    }
});

describe('a write that waits for its turn with its body', () => {
    it('gets an error with the reason if the memory is needed for others', async () => {
        const queue = new KeyedQueue({ room: { places: 10, taken: 0 } });
        const running = Promise.withResolvers<void>();
        const first = queue.run({ keys: ['a'], full: () => new Refusal('RATE_LIMITED') }, () => running.promise);
        const gone = new AbortController();
        const second = queue.run({ keys: ['a'], gone: gone.signal, full: () => new Refusal('RATE_LIMITED') }, async () => 'it ran');
        gone.abort(new Refusal('OVERLOADED'));
        expect(await second.catch((error: Refusal) => error.code)).to.equal('OVERLOADED');
        running.resolve();
        await first;
    });
});

describe('the ids of items of a batch that arrives as lines', () => {
    const world = useWorld({ workers: 0, config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();
    let person: Person;

    before(async () => {
        person = await join(world);
        await person.publish(shopPackage(shop.port));
    });

    /** Fills the memory: half of it by running calls of free accounts, and half by others. Returns a function that frees it. */
    function fill(): () => void {
        const releases = [{ isCall: true }, { plan: 'pro' }].map(({ isCall = false, plan = 'free' }) => {
            const auth = { credentials: { app: { accountId: plan, plan } } };
            const request = { app: { clientAddress: '192.0.2.1' }, auth, raw: { res: { once() {} } } };
            const place = reserveBody(request as unknown as Request, { maxBytes: 64 * MIB, isCall }, () => undefined);
            place.received(64 * MIB);
            if (isCall) expect(place.completed(64 * MIB)).to.equal(undefined);
            return place.release;
        });
        return () => releases.forEach((one) => void one());
    }

    const order = (query: string, idOf: (at: number) => object) => {
        const body = Array.from({ length: 1000 }, (_, at) => JSON.stringify({ params: { id: at + 1 }, ...idOf(at) })).join('\n');
        const headers = { 'content-type': 'application/x-ndjson' };
        return person.call('POST', `/v1/batches?site=${SHOP}&endpoint=product${query}`, { body, headers });
    };
    const named = (at: number) => ({ custom_id: `${at}`.padStart(64, 'x') });

    it('share the memory for large bodies, in dry runs and in orders', async () => {
        const free = fill();
        try {
            for (const query of ['&dry_run=true', '']) {
                const refused = await order(query, named);
                expect(codeOf(refused), query).to.equal('OVERLOADED');
                expect(refused.headers.get('retry-after'), query).to.equal('1');
            }
            expect((await order('&dry_run=true', () => ({}))).status).to.equal(200);
        } finally {
            free();
        }
        expect((await order('&dry_run=true', named)).status).to.equal(200);
        expect((await order('', named)).status).to.equal(202);
    });
});

describe('packages of many accounts that never arrive completely', () => {
    let world: World;
    let good: Person;
    const sockets: Socket[] = [];

    before(async () => {
        world = await openWorld({ workers: 0 });
        good = await join(world, { plan: 'free' });
    });
    after(async () => {
        for (const socket of sockets) socket.destroy();
        await world.close();
    });

    it('use at most 128 MiB; one more gets 503 with Retry-After, and others publish meanwhile', async () => {
        const strangers = await Promise.all(Array.from({ length: 16 }, () => join(world)));
        const { hostname, port } = new URL(world.base);
        const before = process.memoryUsage().arrayBuffers;
        const refused: string[] = [];
        const part = Buffer.alloc(4 * MIB - 100, ' ');
        const stall = async ({ apiKey }: Person, number: number) => {
            const socket = connect({ port: Number(port), host: hostname, localAddress: `127.2.${number % 200}.1` });
            sockets.push(socket.on('error', () => undefined));
            socket.on('data', (data) => refused.push(data.toString()));
            const head = ['POST /v1/schemas HTTP/1.1', 'Host: x', `Authorization: Bearer ${apiKey}`, 'Content-Type: application/json'];
            socket.write(`${head.join('\r\n')}\r\nContent-Length: ${4 * MIB}\r\n\r\n`);
            if (!socket.write(part)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
        };
        await Promise.all(strangers.flatMap((person, at) => Array.from({ length: 4 }, (_, turn) => stall(person, 4 * at + turn))));
        await eventually(
            async () => refused.length,
            (count) => count >= 64 - 33,
        );
        expect((process.memoryUsage().arrayBuffers - before) / MIB).to.be.below(200);
        // On a slow machine, stalled bodies may also time out.
        const answered = refused.filter((answer) => isWhole || !answer.startsWith('HTTP/1.1 408 '));
        expect(answered).to.have.length.above(0);
        for (const answer of answered) expect(answer).to.match(/^HTTP\/1.1 503 [\s\S]*retry-after: 1[\s\S]*OVERLOADED/i);
        const endpoints = Array.from({ length: 300 }, (_, at) =>
            anEndpoint('good.test', { name: `endpoint_${at}`, description: 'words '.repeat(150) }),
        );
        expect((await good.publish(aPackage('good.test', { endpoints }))).status).to.equal(201);
    });
});
