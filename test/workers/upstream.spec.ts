import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import * as zlib from 'node:zlib';
import { expect } from 'chai';
import type { UpstreamRequest } from '../../shared/domain/types.ts';
import type { CallCredential } from '../../workers/credentials/credential.ts';
import { pauseBefore, readRetryAfter } from '../../workers/upstream/retries.ts';
import { createUpstream, type RequestFigures, type SendOptions, type Upstream } from '../../workers/upstream.ts';
import { createAuthority, issueCertificate } from '../support/certificates.ts';
import { loopbackRules, openRawSite, openSite, requestTo, type Site } from '../support/sites.ts';

describe('calling a site', () => {
    const closers: (() => unknown)[] = [];
    const figures: RequestFigures[] = [];
    let site: Site;
    let upstream: Upstream;
    let answer: Parameters<typeof openSite>[0] = (_request, response) => response.end('{}');

    before(async () => {
        site = await openSite((request, response) => answer(request, response));
        upstream = createUpstream({
            rules: loopbackRules(`127.0.0.1:${site.port}`, { 'shop.test': '127.0.0.1', 'api.shop.test': '127.0.0.1' }),
            onRequest: (one) => figures.push(one),
        });
        closers.push(
            () => site.close(),
            () => upstream.close(),
        );
    });

    after(async () => {
        for (const close of closers.splice(0).reverse()) await close();
    });

    beforeEach(() => {
        site.seen.length = 0;
        figures.length = 0;
    });

    const at = (path: string) => `http://shop.test:${site.port}${path}`;

    function send(request: UpstreamRequest, options: Partial<SendOptions> = {}) {
        return upstream.send(request, {
            site: 'shop.test',
            registrable: 'shop.test',
            effect: 'read',
            deadlineAt: Date.now() + 5000,
            ...options,
        });
    }

    /** Responses by the number of the request. The last one is repeated. */
    function answersInTurn(...turns: (number | [number, Record<string, string>])[]) {
        let turn = 0;
        answer = (_request, response) => {
            const now = turns[Math.min(turn++, turns.length - 1)] ?? 200;
            const [status, headers] = typeof now === 'number' ? [now, {}] : now;
            response.writeHead(status, headers).end(`{"turn":${turn}}`);
        };
    }

    it('returns the final page with its metadata', async () => {
        answersInTurn([200, { 'content-type': 'application/json', 'x-a': '1' }]);
        const result = await send(requestTo(at('/a?b=1')));
        if (!result.ok) throw new Error(result.code);
        expect(Buffer.from(result.page.body).toString()).to.equal('{"turn":1}');
        expect(result.page).to.include({ status: 200, url: at('/a?b=1'), method: 'GET' });
        expect(result.page.headers['x-a']).to.equal('1');
        expect(result.figures).to.include({ status: 200, attempts: 1, bytes: 10 });
        expect(figures).to.have.length(1);
        expect(figures[0]).to.include({ site: 'shop.test', result: 'success', bytesIn: 10, bytesOut: 0 });
    });

    it('sends the headers of the request and nothing else', async () => {
        answersInTurn(200);
        const request = requestTo(at(`/p%2Fq/'(x)|y?a=%20&b='`), { method: 'POST', body: '{"a":1}' });
        await send({ ...request, headers: { ...request.headers, 'x-extra': 'v' } });
        const [seen] = site.seen;
        expect(seen?.path).to.equal(`/p%2Fq/'(x)|y?a=%20&b=%27`);
        expect(seen?.body).to.equal('{"a":1}');
        expect(Object.keys(seen?.headers ?? {}).sort()).to.deep.equal(
            ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent', 'x-extra'].sort(),
        );
        expect(seen?.headers['user-agent']).to.match(/^Routebook\//);
        expect(seen?.headers.host).to.equal(`shop.test:${site.port}`);
    });

    it('ends at its deadline while its credential is not ready, and sends nothing', async () => {
        const credential: CallCredential = {
            attachTo: () => new Promise(() => {}),
            maskBytes: (bytes) => bytes,
            maskText: (text) => text,
            cleanUrl: (url) => url,
        };
        const result = await send(requestTo(at('/')), { credential, deadlineAt: Date.now() + 200 });
        expect(result).to.include({ ok: false, code: 'DEADLINE_EXCEEDED' });
        expect(site.seen).to.deep.equal([]);
    });

    it('shares no cookies between calls and sends no credentials of the environment', async () => {
        answersInTurn([200, { 'set-cookie': 'session=1; Path=/' }]);
        await send(requestTo(at('/')));
        await send(requestTo(at('/')));
        expect(site.seen.map(({ headers }) => [headers.cookie, headers.authorization])).to.deep.equal([
            [undefined, undefined],
            [undefined, undefined],
        ]);
    });

    it('reuses a connection', async () => {
        answersInTurn(200);
        await send(requestTo(at('/1')));
        await settled();
        const before = site.connections();
        await send(requestTo(at('/2')));
        await settled();
        await send(requestTo(at('/3')));
        expect(site.connections()).to.equal(before);
    });

    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        it(`sends ${method} with and without a body`, async () => {
            answersInTurn(200);
            expect((await send(requestTo(at('/'), { method, body: '{}' }))).ok).to.equal(true);
            expect((await send(requestTo(at('/'), { method }))).ok).to.equal(true);
            expect(site.seen.map(({ body, headers }) => [body, headers['content-type']])).to.deep.equal([
                ['{}', 'application/json'],
                ['', undefined],
            ]);
        });
    }

    it('decompresses nothing without a body, whatever the headers say', async () => {
        for (const coding of ['aws-chunked', 'gzip, br', 'gzip']) {
            answer = (request, response) => response.writeHead(request.method === 'HEAD' ? 200 : 204, { 'content-encoding': coding }).end();
            for (const method of ['HEAD', 'GET'] as const) {
                expect(await send({ ...requestTo(at('/')), method }), `${method} ${coding}`).to.include({ ok: true });
            }
        }
    });

    it('treats the response to HEAD and a 204 as pages without a body', async () => {
        answersInTurn(200);
        const head = await send(requestTo(at('/'), { method: 'HEAD' }));
        expect(head.ok && head.page.body.length).to.equal(0);
        answersInTurn(204);
        const none = await send(requestTo(at('/')));
        expect(none.ok && [none.page.status, none.page.body.length]).to.deep.equal([204, 0]);
    });

    for (const [coding, pack] of [
        ['gzip', zlib.gzipSync],
        ['x-gzip', zlib.gzipSync],
        ['deflate', zlib.deflateSync],
        ['deflate', zlib.deflateRawSync],
        ['br', zlib.brotliCompressSync],
        ['zstd', zlib.zstdCompressSync],
        ['identity', (body: string) => Buffer.from(body)],
    ] as const) {
        it(`decompresses ${coding}${pack === zlib.deflateRawSync ? ' without its wrapper' : ''}`, async () => {
            answer = (_request, response) => response.writeHead(200, { 'content-encoding': coding }).end(pack('{"packed":true}'));
            const result = await send(requestTo(at('/')));
            expect(result.ok && Buffer.from(result.page.body).toString()).to.equal('{"packed":true}');
        });
    }

    describe('that fails for a moment', () => {
        for (const status of [429, 502, 503, 504]) {
            it(`retries a read after ${status}, twice at most`, async () => {
                answersInTurn(status, status, 200);
                const began = performance.now();
                const result = await send(requestTo(at('/')));
                expect(result.ok && result.figures.attempts).to.equal(3);
                // Pauses of 0.1 and 0.4 s, each up to half shorter by chance.
                expect(performance.now() - began).to.be.within(245, 20_000);
                expect(figures.map((one) => one.result)).to.deep.equal([
                    status === 429 ? 'UPSTREAM_RATE_LIMITED' : 'UPSTREAM_STATUS',
                    status === 429 ? 'UPSTREAM_RATE_LIMITED' : 'UPSTREAM_STATUS',
                    'success',
                ]);
            });
        }

        it('pauses up to 0.1 and 0.4 s before these attempts, and at least half of that', () => {
            const fault = { code: 'UPSTREAM_STATUS', isTransient: true } as const;
            const pauses = (random: number) => [1, 2].map((retry) => pauseBefore(retry, fault, 1000, random));
            expect([pauses(0), pauses(1)]).to.deep.equal([
                [100, 400],
                [50, 200],
            ]);
        });

        for (const status of [400, 404, 500, 501]) {
            it(`does not retry after ${status}`, async () => {
                answersInTurn(status, 200);
                const result = await send(requestTo(at('/')));
                expect(result).to.include({ ok: false, code: 'UPSTREAM_STATUS', attempts: 1 });
            });
        }

        it('waits as long as Retry-After says', async () => {
            answersInTurn([503, { 'retry-after': '1' }], 200);
            const began = performance.now();
            expect((await send(requestTo(at('/')))).ok).to.equal(true);
            expect(performance.now() - began).to.be.within(990, 20_000);
        });

        for (const [written, seconds] of [
            ['60.2', 61],
            ['60s', 60],
            ['60 seconds', 60],
            ['2999-01-01T00:00:00Z', 86_400],
            ['Tuesday, 01-Jan-80 00:00:00 GMT', 0],
            ['Tue Jan  1 00:00:00 2999', 86_400],
            ['60 minutes', undefined],
            ['5 Jan', undefined],
        ] as const) {
            it(`reads ${seconds ?? 'nothing'} from a Retry-After of ${written}`, () =>
                expect(readRetryAfter(written, Date.parse('2026-01-01T00:00:00Z'))).to.equal(seconds));
        }

        it('does not wait for a Retry-After beyond the deadline, and passes it on', async () => {
            answersInTurn([429, { 'retry-after': '60' }], 200);
            const began = performance.now();
            const result = await send(requestTo(at('/')));
            expect(result).to.include({ ok: false, code: 'UPSTREAM_RATE_LIMITED', retryAfter: 60, attempts: 1 });
            expect(performance.now() - began).to.be.below(20_000);
        });

        it('sends a write once, whatever the response', async () => {
            for (const status of [429, 503]) {
                site.seen.length = 0;
                answersInTurn(status, 200);
                const result = await send(requestTo(at('/'), { method: 'POST', body: '{}' }), { effect: 'write' });
                expect(result).to.include({ ok: false, attempts: 1 });
                expect(site.seen).to.have.length(1);
            }
            site.seen.length = 0;
            answer = (request) => request.socket.destroy();
            const result = await send(requestTo(at('/'), { method: 'POST', body: '{}' }), { effect: 'write' });
            expect(result).to.include({ ok: false, code: 'UPSTREAM_UNREACHABLE', attempts: 1 });
            expect(site.seen).to.have.length(1);
        });

        it('shows the beginning of an error response without control characters and secrets', async () => {
            const secret = `sk_live_${'a1B2'.repeat(8)}`;
            answer = (_request, response) => response.writeHead(403).end(`no\u0000 entry for ${secret} here ${'x '.repeat(600)}`);
            const result = await send(requestTo(at('/')));
            if (result.ok || result.upstream === undefined) throw new Error('expected a refusal');
            expect(result.upstream.status).to.equal(403);
            expect(result.upstream.snippet).to.match(/^no entry for \[removed\] here x/);
            expect(result.upstream.snippet).to.have.length(512);
        });
    });

    describe('with a write', () => {
        const order = () => requestTo(at('/orders'), { method: 'POST', body: '{"n":1}' });

        it('requests the mark once, with an open connection and nothing sent', async () => {
            answersInTurn(201);
            let asked = 0;
            const before = site.connections();
            const result = await send(order(), {
                effect: 'write',
                beforeFirstByte: async () => {
                    asked++;
                    expect(site.connections()).to.equal(before + 1);
                    expect(site.seen).to.have.length(0);
                    return true;
                },
            });
            expect(result.ok).to.equal(true);
            expect([asked, site.seen.length]).to.deep.equal([1, 1]);
        });

        it('sends nothing without the mark', async () => {
            const result = await send(order(), { effect: 'write', beforeFirstByte: async () => false });
            expect(result).to.include({ ok: false, code: 'DEADLINE_EXCEEDED' });
            // The winner of the mark may have sent the write, so this one cannot say that nothing was sent.
            expect(result).to.not.have.property('isUnsent');
            await settled();
            expect(site.seen).to.have.length(0);
        });

        it('sends nothing if the mark cannot be requested', async () => {
            const result = await send(order(), { effect: 'write', beforeFirstByte: () => Promise.reject(new Error('down')) });
            expect(result).to.include({ ok: false, code: 'SERVICE_UNAVAILABLE' });
            await settled();
            expect(site.seen).to.have.length(0);
        });

        it('sends nothing if the caller disconnects while the mark is requested', async () => {
            const gone = new AbortController();
            const result = await send(order(), {
                effect: 'write',
                signal: gone.signal,
                beforeFirstByte: async () => {
                    gone.abort();
                    return true;
                },
            });
            expect(result).to.include({ ok: false, code: 'DEADLINE_EXCEEDED', isUnsent: true });
            await settled();
            expect(site.seen).to.have.length(0);
        });

        it('reports that nothing was sent also if the mark comes after the end of the call, unless that takes too long', async () => {
            const { promise, resolve } = Promise.withResolvers<boolean>();
            const marking = [promise, new Promise<boolean>(() => {})];
            for (const isTold of [true, false]) {
                const gone = new AbortController();
                const result = await send(order(), {
                    effect: 'write',
                    signal: gone.signal,
                    beforeFirstByte: () => {
                        gone.abort();
                        setImmediate(() => setImmediate(resolve, true));
                        return marking.shift() as Promise<boolean>;
                    },
                });
                expect(result).to.include({ ok: false, code: 'DEADLINE_EXCEEDED' });
                expect('isUnsent' in result).to.equal(isTold);
            }
            expect(site.seen).to.have.length(0);
        });

        it('does not request the mark if no connection can be made', async () => {
            let asked = 0;
            const closed = createUpstream({ rules: loopbackRules('127.0.0.1:9') });
            const result = await closed.send(requestTo('http://shop.test:9/', { method: 'POST', body: '{}' }), {
                site: 'shop.test',
                registrable: 'shop.test',
                effect: 'write',
                deadlineAt: Date.now() + 2000,
                beforeFirstByte: async () => ++asked > 0,
            });
            expect(result).to.include({ ok: false, code: 'UPSTREAM_UNREACHABLE', attempts: 1 });
            expect(asked).to.equal(0);
        });

        for (const status of [301, 302, 303]) {
            it(`fetches the response by GET after ${status}, without repeating the body`, async () => {
                answersInTurn([status, { location: '/done' }], 200);
                const result = await send(order(), { effect: 'write' });
                expect(result.ok && result.page.method).to.equal('GET');
                expect(site.seen.map(({ method, path, body }) => [method, path, body])).to.deep.equal([
                    ['POST', '/orders', '{"n":1}'],
                    ['GET', '/done', ''],
                ]);
                expect(site.seen[1]?.headers['content-type']).to.equal(undefined);
            });
        }

        for (const status of [307, 308]) {
            it(`ends at ${status}, which would repeat the body`, async () => {
                answersInTurn([status, { location: '/again' }], 200);
                expect(await send(order(), { effect: 'write' })).to.include({ ok: false, code: 'UPSTREAM_REDIRECT' });
                expect(site.seen).to.have.length(1);
            });
        }
    });

    describe('that redirects', () => {
        it('follows five hops over hosts of the same registrable domain', async () => {
            answer = (request, response) => {
                const hop = Number(request.url?.slice(1));
                if (hop >= 5) return response.end('{"there":true}');
                response.writeHead(302, { location: `http://api.shop.test:${site.port}/${hop + 1}` }).end();
            };
            const result = await send(requestTo(at('/0')));
            expect(result.ok && [result.page.url, result.figures.attempts]).to.deep.equal([`http://api.shop.test:${site.port}/5`, 6]);
        });

        it('keeps method and body of a read under 307', async () => {
            answersInTurn([307, { location: '/b' }], 200);
            await send(requestTo(at('/a'), { method: 'POST', body: '{"q":1}' }));
            expect(site.seen.map(({ method, body }) => [method, body])).to.deep.equal([
                ['POST', '{"q":1}'],
                ['POST', '{"q":1}'],
            ]);
        });

        it('keeps HEAD a HEAD', async () => {
            answersInTurn([302, { location: '/b' }], 200);
            await send(requestTo(at('/a'), { method: 'HEAD' }));
            expect(site.seen.map(({ method }) => method)).to.deep.equal(['HEAD', 'HEAD']);
        });

        it('reads a Location in raw UTF-8 and drops its fragment', async () => {
            answer = (request, response) => {
                if (request.url !== '/a') return response.end('{}');
                response.socket?.end(Buffer.from('HTTP/1.1 302 Found\r\nLocation: /caf\u00e9#top\r\nContent-Length: 0\r\n\r\n'));
            };
            const result = await send(requestTo(at('/a')));
            expect(result.ok && result.page.url).to.equal(at('/caf%C3%A9'));
        });

        it('does not follow to a URL with user info', async () => {
            answersInTurn([302, { location: `http://me:pw@shop.test:${site.port}/` }], 200);
            expect(await send(requestTo(at('/a')))).to.include({ ok: false, code: 'UPSTREAM_REDIRECT' });
        });
    });

    describe('within its deadline', () => {
        it('sends nothing after the deadline', async () => {
            const result = await send(requestTo(at('/')), { deadlineAt: Date.now() - 1 });
            expect(result).to.include({ ok: false, code: 'DEADLINE_EXCEEDED', attempts: 0 });
            expect(site.seen).to.have.length(0);
        });

        it('stops when the caller disconnects, and closes the connection', async () => {
            const gone = new AbortController();
            let closed: Promise<unknown> = Promise.resolve();
            answer = (request) => {
                closed = new Promise((done) => request.socket.once('close', done));
                gone.abort();
            };
            const result = await send(requestTo(at('/')), { signal: gone.signal });
            expect(result).to.include({ ok: false, code: 'UPSTREAM_TIMEOUT', attempts: 1 });
            await closed;
        });

        it('distinguishes a site that accepted no connection from one that never responded', async () => {
            const silent = createUpstream({
                rules: loopbackRules('127.0.0.1:1'),
                connector: { connect: () => new Promise<Socket>(() => {}) },
            });
            const options = { site: 'shop.test', registrable: 'shop.test', effect: 'read', deadlineAt: Date.now() + 100 } as const;
            expect(await silent.send(requestTo('http://shop.test:1/'), options)).to.include({ ok: false, code: 'DEADLINE_EXCEEDED' });
        });
    });

    describe('over TLS', () => {
        const authority = createAuthority();
        const trusted = getCACertificates('default');
        before(() => setDefaultCACertificates([...trusted, authority.cert]));
        after(() => setDefaultCACertificates(trusted));

        async function fetchFrom(certificate: { cert: string; key: string }) {
            const secure = await openSite((_request, response) => response.end('{"secure":true}'), { certificate });
            const client = createUpstream({ rules: loopbackRules(`127.0.0.1:${secure.port}`) });
            closers.push(
                () => secure.close(),
                () => client.close(),
            );
            const options = { site: 'shop.test', registrable: 'shop.test', effect: 'read', deadlineAt: Date.now() + 3000 } as const;
            const result = await client.send(requestTo(`https://shop.test:${secure.port}/`), options);
            return { result, seen: secure.seen.length };
        }

        it('accepts a certificate of the name', async () => {
            const { result } = await fetchFrom(issueCertificate(authority, 'shop.test'));
            expect(result.ok && Buffer.from(result.page.body).toString()).to.equal('{"secure":true}');
        });

        for (const [what, certificate] of [
            ['of another name', issueCertificate(authority, 'other.test')],
            ['that is expired', issueCertificate(authority, 'shop.test', { expired: true })],
            ['of an authority that nobody trusts', issueCertificate(createAuthority(), 'shop.test')],
        ] as const) {
            it(`sends nothing if the certificate is one ${what}, even if the environment disables the check`, async () => {
                const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
                process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
                try {
                    const { result, seen } = await fetchFrom(certificate);
                    expect(result).to.include({ ok: false, code: 'UPSTREAM_UNREACHABLE', attempts: 1 });
                    expect(seen).to.equal(0);
                } finally {
                    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
                    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
                }
            });
        }

        it('reports a site that does not use TLS', async () => {
            const raw = await openRawSite((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
            const client = createUpstream({ rules: loopbackRules(`127.0.0.1:${raw.port}`) });
            closers.push(
                () => raw.close(),
                () => client.close(),
            );
            const options = { site: 'shop.test', registrable: 'shop.test', effect: 'read', deadlineAt: Date.now() + 3000 } as const;
            expect(await client.send(requestTo(`https://shop.test:${raw.port}/`), options)).to.include({
                ok: false,
                code: 'UPSTREAM_UNREACHABLE',
            });
        });
    });

    describe('through EGRESS_PROXY_URL', () => {
        let proxy: Server;
        const asked: string[] = [];

        before(async () => {
            proxy = createServer((_request, response) => response.writeHead(405).end());
            proxy.on('connect', (request, client: Socket) => {
                asked.push(request.url ?? '');
                if (request.url?.startsWith('closed.')) return client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
                const target = connect(site.port, '127.0.0.1', () => {
                    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
                    target.pipe(client).pipe(target);
                });
                target.on('error', () => client.destroy());
                client.on('error', () => target.destroy());
            });
            await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
            closers.push(() => {
                proxy.close();
                proxy.closeAllConnections();
            });
        });

        function throughProxy(allow: string) {
            const rules = { ...loopbackRules(allow, {}), proxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
            const client = createUpstream({ rules });
            closers.push(() => client.close());
            return (url: string, registrable: string) =>
                client.send(requestTo(url), { site: registrable, registrable, effect: 'read', deadlineAt: Date.now() + 3000 });
        }

        it('leaves addresses to the proxy, and sends it the name', async () => {
            answersInTurn(200);
            const result = await throughProxy('127.0.0.1:8081')('http://far.test:8081/x', 'far.test');
            expect(result.ok).to.equal(true);
            expect(asked).to.include('far.test:8081');
            expect(site.seen[0]?.headers).to.not.have.property('proxy-authorization');
        });

        it('keeps the rules of names, schemes and ports', async () => {
            asked.length = 0;
            expect(await throughProxy('')('http://far.test/', 'far.test')).to.include({ ok: false, code: 'EGRESS_DENIED' });
            expect(await throughProxy('')('https://far.test:8443/', 'far.test')).to.include({ ok: false, code: 'EGRESS_DENIED' });
            expect(await throughProxy('')('https://other.test/', 'far.test')).to.include({ ok: false, code: 'EGRESS_DENIED' });
            expect(asked).to.deep.equal([]);
        });

        it('reports a tunnel that the proxy refuses', async () => {
            const result = await throughProxy('127.0.0.1:8081')('http://closed.test:8081/', 'closed.test');
            expect(result).to.include({ ok: false, code: 'UPSTREAM_UNREACHABLE' });
        });
    });
});

/** A freed connection is reusable after two turns of the event loop. This waits longer. */
async function settled(): Promise<void> {
    for (let round = 0; round < 5; round++) await new Promise((done) => setImmediate(done));
}
