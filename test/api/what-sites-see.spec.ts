import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { VERSION } from '../../shared/platform/version.ts';
import { OK, whole } from '../hostile/behaviour.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openRawSite, openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const SITE = 'shop.test';
const OURS = ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'];

describe('what a site sees of its callers', () => {
    let world: World;
    let site: Site;
    let ada: Person;
    let bob: Person;
    let calls = 0;

    before(async () => {
        site = await openSite((request, response) => {
            const visitor = `v${site.seen.length}`;
            response.setHeader('set-cookie', [`visitor=${visitor}; Path=/`, `session=${visitor}; Domain=${SITE}; Path=/`]);
            if (request.url?.startsWith('/moved')) return response.writeHead(302, { location: '/things' }).end();
            response.writeHead(200, { 'content-type': 'application/json', 'www-authenticate': 'Basic' }).end('{}');
        });
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]), publicUrl: 'https://routebook.example' } });
        ada = await join(world, { plan: 'pro' });
        bob = await join(world, { plan: 'pro' });
        const at = (path: string) => `http://${SITE}:${site.port}${path}`;
        dataOf(
            await ada.publish(
                aPackage(SITE, {
                    endpoints: [
                        anEndpoint(SITE, { name: 'plain', url: at('/things'), params: [] }),
                        anEndpoint(SITE, {
                            name: 'headed',
                            url: at('/things'),
                            params: [],
                            headers: { 'x-client': 'shop', accept: 'text/x' },
                        }),
                        anEndpoint(SITE, { name: 'moved', url: at('/moved'), params: [] }),
                        anEndpoint(SITE, { name: 'in_session', url: at('/things'), params: [], prepare: { url: at('/door') } }),
                        anEndpoint(SITE, {
                            name: 'order',
                            method: 'POST',
                            url: at('/orders'),
                            params: [{ name: 'thing', source: 'body', required: true }],
                        }),
                    ],
                }),
            ),
        );
    });
    after(async () => {
        await world.close();
        await site.close();
    });
    beforeEach(() => {
        site.seen.length = 0;
    });

    /** A call with everything that a careless proxy would forward. */
    async function call(who: Person, endpoint: string, params: object = {}) {
        const headers = {
            cookie: 'mine=1',
            referer: 'https://caller.example/',
            'user-agent': 'caller/1',
            'x-forwarded-for': '203.0.113.7',
            'x-request-id': 'req_of_the_caller',
            'x-client': 'caller',
            'idempotency-key': `call-${++calls}`,
        };
        const answer = await who.call('POST', '/v1/fetch', { body: { site: SITE, endpoint, params }, headers });
        dataOf(answer);
        return site.seen;
    }

    const namesOf = (headers: object) => Object.keys(headers).toSorted();

    it('is the headers of the schema, our name, and nothing else', async () => {
        const [plain] = await call(ada, 'plain');
        expect(namesOf(plain?.headers ?? {})).to.deep.equal(OURS);
        expect(plain?.headers['user-agent']).to.equal(`Routebook/${VERSION} (+https://routebook.example/abuse)`);
        expect(plain?.headers.host).to.equal(`${SITE}:${site.port}`);
        const [, headed] = await call(ada, 'headed');
        expect(namesOf(headed?.headers ?? {})).to.deep.equal([...OURS, 'x-client']);
        expect(headed?.headers).to.include({ 'x-client': 'shop', accept: 'text/x' });
        const [, , order] = await call(ada, 'order', { thing: 1 });
        expect(namesOf(order?.headers ?? {})).to.deep.equal([...OURS, 'content-length', 'content-type'].toSorted());
        expect(order?.rawHeaders.length).to.equal(2 * (OURS.length + 2));
    });

    it('is no cookie of an earlier call, for the same account or another one', async () => {
        for (const [who, endpoint] of [
            [ada, 'plain'],
            [ada, 'plain'],
            [bob, 'plain'],
            [bob, 'order'],
        ] as const) {
            await call(who, endpoint, endpoint === 'order' ? { thing: 1 } : {});
        }
        expect(site.seen).to.have.length(4);
        for (const { headers } of site.seen) expect(headers).not.to.have.any.keys('cookie', 'authorization');
    });

    it('is, behind a redirect, the cookies that the redirect of that call set', async () => {
        for (const who of [ada, ada, bob]) await call(who, 'moved');
        expect(site.seen.map(({ headers }) => headers.cookie)).to.deep.equal([
            undefined,
            'visitor=v1; session=v1',
            undefined,
            'visitor=v3; session=v3',
            undefined,
            'visitor=v5; session=v5',
        ]);
    });

    it('is, in a call with prepare, the cookies of that call', async () => {
        await call(ada, 'in_session');
        await call(bob, 'in_session');
        await call(ada, 'in_session');
        expect(site.seen.map(({ headers }) => headers.cookie)).to.deep.equal([
            undefined,
            'visitor=v1; session=v1',
            undefined,
            'visitor=v3; session=v3',
            undefined,
            'visitor=v5; session=v5',
        ]);
    });
});

for (const topology of ANY_TOPOLOGY) {
    describe(`a connection to a site, over ${topology}`, () => {
        let world: World;
        let site: Site;
        let ada: Person;
        const sockets: Socket[] = [];

        const ANSWERS: Readonly<Record<string, (socket: Socket) => void>> = {
            good: (socket) => socket.write(whole(OK, '{"good":true}')),
            surplus: (socket) => socket.write(Buffer.concat([whole(OK, '{}'), Buffer.from('surplus')])),
            second: (socket) => socket.write(Buffer.concat([whole(OK, '{}'), whole(OK, '{"poisoned":true}')])),
            early: (socket) => socket.end(`${OK}Content-Length: 10\r\n\r\n{}`),
            hangs: (socket) => socket.write(`${OK}Content-Length: 10\r\n\r\n{}`),
            large: (socket) => socket.write(`${OK}Content-Length: 99999999\r\n\r\n{}`),
        };

        before(async () => {
            site = await openRawSite((socket, path) => {
                if (!sockets.includes(socket)) sockets.push(socket);
                ANSWERS[path.slice(1)]?.(socket);
            });
            world = await openWorld({ topology, config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
            ada = await join(world, { plan: 'pro' });
            const endpoints = Object.keys(ANSWERS).map((name) =>
                anEndpoint(SITE, { name, url: `http://${SITE}:${site.port}/${name}`, params: [] }),
            );
            dataOf(await ada.publish(aPackage(SITE, { endpoints })));
        });
        after(async () => {
            await world.close();
            await site.close();
        });

        const good = async () => expect(dataOf(await ada.fetch(SITE, 'good'))).to.deep.equal({ good: true });

        it('is reused', async () => {
            await good();
            const before = site.connections();
            await good();
            await good();
            expect(site.connections()).to.equal(before);
        });

        for (const [endpoint, code, what] of [
            ['surplus', undefined, 'bytes behind its answer'],
            ['second', undefined, 'a second answer'],
            ['early', 'UPSTREAM_UNREACHABLE', 'an early end'],
            ['hangs', 'UPSTREAM_TIMEOUT', 'a deadline'],
            ['large', 'UPSTREAM_TOO_LARGE', 'the cap of a body'],
        ] as const) {
            it(`is closed after ${what}, and the next call gets its own`, async () => {
                await good();
                const answer = await ada.fetch(SITE, endpoint, {}, { timeout_ms: 1000 });
                expect(codeOf(answer)).to.equal(code);
                const used = sockets.at(-1);
                await good();
                if (used?.closed === false) await once(used, 'close');
                expect(sockets.at(-1)).not.to.equal(used);
            });
        }
    });
}
