import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { createConnector, createLookup } from '../../workers/egress.ts';
import { createUpstream } from '../../workers/upstream.ts';
import { patienceFor } from '../support/eventually.ts';
import { loopbackRules, requestTo } from '../support/sites.ts';

describe('a connection that is not ready in time', () => {
    let silent: Server;
    let port: number;

    beforeEach(async () => {
        silent = createServer().listen(0, '127.0.0.1');
        await once(silent, 'listening');
        ({ port } = silent.address() as AddressInfo);
    });
    afterEach(() => silent.close());

    async function closedAtTheSite(): Promise<void> {
        const [socket] = (await once(silent, 'connection')) as [Socket];
        await once(
            socket.resume().on('error', () => {}),
            'close',
        );
    }

    it('is closed also if the site never answers the TLS handshake', async () => {
        const connector = createConnector(loopbackRules('127.0.0.0/8'), { timeoutMs: 200 });
        const closed = closedAtTheSite();
        const failure = connector.connect({ host: '127.0.0.1', port, scheme: 'https' }).catch((error: NodeJS.ErrnoException) => error.code);
        expect(await failure).to.equal('ETIMEDOUT');
        await closed;
    });

    it('is closed as soon as nobody waits for it any more', async () => {
        const connector = createConnector(loopbackRules('127.0.0.0/8'));
        const gone = new AbortController();
        const closed = closedAtTheSite();
        const failure = connector
            .connect({ host: '127.0.0.1', port, scheme: 'https' }, gone.signal)
            .catch((error: NodeJS.ErrnoException) => error.code);
        await once(silent, 'connection');
        gone.abort();
        expect(await failure).to.equal('ECONNABORTED');
        await closed;
    });

    for (const effect of ['read', 'write'] as const) {
        it(`is closed at the deadline of its ${effect}, and nothing was sent`, async () => {
            const upstream = createUpstream({ rules: loopbackRules(`127.0.0.1:${port}`) });
            const closed = closedAtTheSite();
            const began = performance.now();
            const answer = await upstream.send(requestTo(`https://shop.test:${port}/`), {
                site: 'shop.test',
                registrable: 'shop.test',
                effect,
                deadlineAt: Date.now() + 300,
            });
            expect(!answer.ok && answer.code).to.equal('DEADLINE_EXCEEDED');
            await closed;
            expect(performance.now() - began).to.be.below(patienceFor(3000));
            upstream.close();
        });
    }
});

describe('looking up names', () => {
    it('looks up equal names once, and one name after the other of an owner whose name server hangs, while others continue', async () => {
        const asked: string[] = [];
        const hanging = Promise.withResolvers<string[]>();
        const lookup = createLookup(async (host) => {
            asked.push(host);
            return host.endsWith('hangs.test') ? hanging.promise : ['127.0.0.1'];
        });
        const stuck = ['a.hangs.test', 'a.hangs.test', 'b.hangs.test', 'c.hangs.test'].map(lookup);
        expect(await lookup('good.test')).to.deep.equal(['127.0.0.1']);
        expect(asked).to.deep.equal(['a.hangs.test', 'good.test']);
        hanging.resolve(['127.0.0.2']);
        expect(await Promise.all(stuck)).to.deep.equal(stuck.map(() => ['127.0.0.2']));
        expect(asked.slice(2)).to.deep.equal(['b.hangs.test', 'c.hangs.test']);
    });

    /** Names whose look-up hangs until it is released, beside others that resolve at once. */
    function openResolver() {
        const asked: string[] = [];
        const hanging = new Map<string, (addresses: string[]) => void>();
        // A cache takes 0 for no time.
        let ms = 1;
        const lookup = createLookup(
            (host) => {
                asked.push(host);
                return host.includes('hangs') ? new Promise((resolve) => hanging.set(host, resolve)) : Promise.resolve(['127.0.0.1']);
            },
            { now: () => ms },
        );
        return {
            asked,
            lookup,
            lookUpHanging: (count: number) => Array.from({ length: count }, (_, number) => lookup(`hangs${number}.test`)),
            /** Lets all name servers answer after this time. */
            async answerAfter(waitMs: number) {
                ms += waitMs;
                while (hanging.size > 0) {
                    for (const [host, answer] of hanging) {
                        hanging.delete(host);
                        answer(['127.0.0.2']);
                    }
                    await new Promise(setImmediate);
                }
            },
        };
    }

    it('keeps threads for responsive sites, however many others have hanging name servers', async () => {
        const { asked, lookup, lookUpHanging, answerAfter } = openResolver();
        await lookup('good.test');
        const stuck = lookUpHanging(40);
        await new Promise(setImmediate);
        expect(asked, 'of sixteen threads').to.have.length(1 + 8);
        expect(await lookup('good.test')).to.deep.equal(['127.0.0.1']);
        expect(await lookup('www.good.test')).to.deep.equal(['127.0.0.1']);
        await answerAfter(5000);
        expect(await Promise.all(stuck)).to.have.length(40);
    });

    it('keeps threads for a site that answered an hour ago, although strangers’ dead name servers fill the queue of new sites', async () => {
        const { lookup, lookUpHanging, answerAfter } = openResolver();
        await lookup('good.test');
        await answerAfter(3_600_000);
        const stuck = Promise.allSettled(lookUpHanging(40));
        await new Promise(setImmediate);
        const isFirst = await Promise.race([lookup('good.test').then(() => true), new Promise((done) => setImmediate(done, false))]);
        expect(isFirst).to.equal(true);
        await answerAfter(5000);
        await stuck;
    });

    it('keeps a thread for a name that answered an hour ago, although strangers make up names of its owner', async () => {
        const { lookup, answerAfter } = openResolver();
        await lookup('api.good.test');
        await answerAfter(3_600_000);
        const madeUp = Promise.allSettled(Array.from({ length: 40 }, (_, number) => lookup(`hangs${number}.good.test`)));
        await new Promise(setImmediate);
        const isFirst = await Promise.race([lookup('api.good.test').then(() => true), new Promise((done) => setImmediate(done, false))]);
        expect(isFirst).to.equal(true);
        await answerAfter(5000);
        await madeUp;
    });

    it('takes threads from a site that was quick and became slow', async () => {
        const { asked, lookup, lookUpHanging, answerAfter } = openResolver();
        const names = Array.from({ length: 40 }, (_, number) => `hangs${number}.test`);
        // They answer at once, so they are quick.
        const first = Promise.all(names.map(lookup));
        await new Promise(setImmediate);
        await answerAfter(0);
        await first;
        const stuck = Promise.all(lookUpHanging(40));
        await new Promise(setImmediate);
        await answerAfter(5000);
        await stuck;
        // They are slow for ten minutes, then new.
        await answerAfter(700_000);
        asked.length = 0;
        const again = Promise.allSettled(lookUpHanging(40));
        await new Promise(setImmediate);
        expect(asked).to.have.length(8);
        await answerAfter(5000);
        await again;
    });

    it('gives slow sites threads of their own, so that a new site waits for none of them', async () => {
        const { asked, lookup, lookUpHanging, answerAfter } = openResolver();
        const stuck = lookUpHanging(40);
        await new Promise(setImmediate);
        await answerAfter(5000);
        await Promise.all(stuck);
        asked.length = 0;
        const again = lookUpHanging(8);
        await new Promise(setImmediate);
        expect(asked).to.have.length(4);
        expect(await lookup('new.test')).to.deep.equal(['127.0.0.1']);
        await answerAfter(5000);
        await Promise.all(again);
    });

    it('leaves threads to responsive sites beside all new and slow ones: libuv lends lookups only half of its threads', async () => {
        const { asked, lookUpHanging, answerAfter } = openResolver();
        const first = lookUpHanging(8);
        await new Promise(setImmediate);
        await answerAfter(5000);
        await Promise.all(first);
        asked.length = 0;
        const stuck = lookUpHanging(80);
        await new Promise(setImmediate);
        const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
        for (const command of [scripts.start, scripts.worker]) {
            const threads = Number(/UV_THREADPOOL_SIZE=(\d+)/.exec(command)?.[1]);
            expect(Math.floor((threads + 1) / 2) - asked.length, command).to.be.at.least(4);
        }
        await answerAfter(5000);
        await Promise.all(stuck);
    });

    it('skips a look-up that waited for so long that no connection needs it any more', async () => {
        const { asked, lookUpHanging, answerAfter } = openResolver();
        const stuck = Promise.allSettled(lookUpHanging(9));
        await new Promise(setImmediate);
        await answerAfter(11_000);
        const ends = await stuck;
        expect(ends.map(({ status }) => status).filter((status) => status === 'rejected')).to.have.length(1);
        expect(asked).to.have.length(8);
    });

    it('uses the last addresses of a name while sites that were quick hang together and occupy every thread', async () => {
        const hanging = Promise.withResolvers<string[]>();
        let isHanging = false;
        // Like libuv: a lookup waits for a free thread.
        const lookup = createLookup((host) =>
            isHanging ? hanging.promise : Promise.resolve([host === 'good.test' ? '127.0.0.1' : '127.0.0.2']),
        );
        const known = Array.from({ length: 16 }, (_, number) => `known${number}.test`);
        await Promise.all(['good.test', ...known].map(lookup));
        isHanging = true;
        const stuck = known.map(lookup);
        expect(await lookup('good.test')).to.deep.equal(['127.0.0.1']);
        hanging.resolve(['127.0.0.3']);
        await Promise.all(stuck);
        await new Promise(setImmediate);
        // With a free thread, the name is looked up again.
        expect(await lookup('good.test')).to.deep.equal(['127.0.0.3']);
    });

    it('retries after a name that was not found, and looks it up each time', async () => {
        let asked = 0;
        const lookup = createLookup(async () => {
            if (++asked === 1) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
            return [`127.0.0.${asked}`];
        });
        expect(await lookup('shop.test').catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOTFOUND');
        expect(await lookup('shop.test')).to.deep.equal(['127.0.0.2']);
        expect(await lookup('shop.test')).to.deep.equal(['127.0.0.3']);
    });
});

describe('a name of EGRESS_HOSTS', () => {
    it('is found in any spelling: with a trailing dot, in capitals', async () => {
        const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const connector = createConnector(loopbackRules('127.0.0.0/8'), { lookup: async () => [] });
        try {
            for (const host of ['shop.test', 'shop.test.', 'SHOP.test.']) {
                const socket = await connector.connect({ host, port, scheme: 'http' });
                expect(socket.remoteAddress, host).to.equal('127.0.0.1');
                socket.destroy();
            }
        } finally {
            server.close();
        }
    });
});
