import { expect } from 'chai';
import { checkEnvelope } from '../support/answers.ts';
import { CONNECTED, CONSENTED, connectedPackage, consentedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { rawRequest, sendRaw } from '../support/raw.ts';
import { aProvenClaim, callRoute, codeOf, dataOf, detailsOf, everyRoute, INTENT, type RouteCall } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, useWorld, type World } from '../support/world.ts';

const SITE = 'shop.test';

const messageOf = ({ body }: Answer) => (body['error'] as { message: string }).message;

describe('every route', () => {
    let world: World;
    let maker: Person;
    let anybody: Person;

    before(async () => {
        // Jobs that are created here run, but their site is unreachable.
        world = await openWorld({ config: { trustProxy: 1, egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        maker = await join(world, { plan: 'pro' });
        anybody = stranger(world);
        dataOf(await maker.publish(aPackage(SITE)));
    });
    after(() => world.close());

    it('answers in its envelope, with the headers of its contract', async () => {
        // Fetches have their own specs. Here they would call a site outside of the loopback.
        const { workspaceId } = await join(world);
        const asked = { domain: SITE, task: 'Read the price of every product once a day.' };
        const { request_id } = dataOf<{ request_id: string }>(await maker.call('POST', '/v1/schema-requests', { body: asked }));
        const { job_id } = dataOf<{ job_id: string }>(
            await maker.call('POST', '/v1/jobs', { body: { site: SITE, endpoint: 'product', params: { id: 1 } } }),
        );
        await maker.call('DELETE', `/v1/jobs/${job_id}`);
        // No item of this batch starts, so that the batch stays open.
        await world.app.db('job_pauses').insert({ site: SITE });
        const batch = { defaults: { site: SITE, endpoint: 'product' }, items: [{ params: { id: 1 } }] };
        const { batch_id } = dataOf<{ batch_id: string }>(await maker.call('POST', '/v1/batches', { body: batch }));
        const hook = { url: 'https://127.0.0.1/hook', events: ['job.*'] };
        const { webhook_id } = dataOf<{ webhook_id: string }>(await maker.call('POST', '/v1/webhooks', { body: hook }));
        const claim_id = await aProvenClaim(world, maker, SITE);
        dataOf(await maker.publish(connectedPackage()));
        dataOf(await maker.publish(consentedPackage()));
        dataOf(await maker.call('PUT', `/v1/oauth-clients/${CONSENTED}`, { body: { client_id: 'x' } }));
        const connection = { site: CONNECTED, secret: { value: 'a-key-of-my-own' } };
        const { connection_id } = dataOf<{ connection_id: string }>(await maker.call('POST', '/v1/connections', { body: connection }));
        const watched = { site: SITE, endpoint: 'product', params: { id: 1 }, cron: '0 8 1 1 *' };
        const { monitor_id } = dataOf<{ monitor_id: string }>(await maker.call('POST', '/v1/monitors', { body: watched }));
        const places = {
            workspace_id: workspaceId,
            request_id,
            claim_id,
            job_id,
            monitor_id,
            webhook_id,
            batch_id,
            connection_id,
            connected: CONNECTED,
            consented: CONSENTED,
        };
        const routes = everyRoute(SITE, places);
        // Tests of connections and redeliveries would leave the loopback too. Secret scanners get their own format.
        const outside = ['postFetch', 'testConnection', 'postRedeliver', 'postKeyReport'];
        // A deleted webhook cannot be requested any more, so deletes come last.
        const inOrder = routes.toSorted(
            (a, b) => Number(a.contract.name === 'deleteWebhook') - Number(b.contract.name === 'deleteWebhook'),
        );
        for (const route of inOrder.filter(({ contract }) => !outside.includes(contract.name))) {
            const answer = await callRoute(maker, route);
            expect(answer.body['success'] ?? answer.body['openapi'], route.path).to.be.oneOf([true, '3.1.0']);
            expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
        }
    });

    it('repeats a caller’s request id if it is well-formed, and otherwise gives one of its own', async () => {
        const idFor = async (given: Record<string, string>) =>
            (await anybody.call('GET', '/v1/health', { headers: given })).headers.get('x-request-id');
        expect(await idFor({ 'x-request-id': 'Trace_7-a' })).to.equal('Trace_7-a');
        expect(await idFor({ 'x-request-id': 'x'.repeat(64) })).to.equal('x'.repeat(64));
        const own = await idFor({});
        expect(own).to.match(/^req_[0-9A-Za-z]+$/);
        for (const bad of ['x'.repeat(65), 'a b', 'a;b', 'ü']) expect(await idFor({ 'x-request-id': bad })).to.match(/^req_/);
        expect(await idFor({})).not.to.equal(own);
    });

    it('names the request id in the envelope of an error', async () => {
        const refused = await anybody.call('GET', '/v1/account', { headers: { 'x-request-id': 'mine' } });
        expect(refused.body).to.deep.include({ meta: { request_id: 'mine' } });
    });

    it('takes HEAD wherever it takes GET, with the same status and headers and no body', async () => {
        for (const { method, path, contract } of everyRoute(SITE)) {
            if (method !== 'GET') continue;
            const [get, head] = [await maker.call('GET', path), await maker.call('HEAD', path)];
            expect(head.status, path).to.equal(get.status);
            expect(head.body).to.deep.equal({ text: '' });
            for (const name of ['content-type', 'etag', 'cache-control'])
                expect(head.headers.get(name), `${path} ${name}`).to.equal(get.headers.get(name));
            expect(head.headers.has('ratelimit'), path).to.equal(contract.counted);
        }
    });

    it('answers OPTIONS with 204 and the methods of the path, without a key', async () => {
        for (const { method, path } of everyRoute(SITE)) {
            const { status, headers } = await anybody.call('OPTIONS', path);
            expect(status, path).to.equal(204);
            expect(headers.get('allow')?.split(', '), path).to.include.members(
                method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [method, 'OPTIONS'],
            );
        }
    });

    it('answers any other method of a known path with METHOD_NOT_ALLOWED and Allow, whatever the body is', async () => {
        const routes = everyRoute(SITE);
        for (const { path } of routes) {
            for (const [method, headers] of [
                ['PATCH', { 'content-type': 'nonsense' }],
                ['DELETE', {}],
                ['PROPFIND', {}],
            ] as const) {
                // `/v1/connections/authorize` also matches a route with an id, since ids may be any word.
                const isKnown = (route: RouteCall) => route.path === path || route.contract.path === '/v1/connections/{connection_id}';
                const at = path === '/v1/connections/authorize' ? isKnown : (route: RouteCall) => route.path === path;
                if (routes.some((route) => at(route) && route.method === method)) continue;
                const refused = await anybody.call(method, path, { headers, ...(method === 'PATCH' ? { body: '{' } : {}) });
                expect(codeOf(refused), `${method} ${path}`).to.equal('METHOD_NOT_ALLOWED');
                expect(refused.headers.get('allow')).to.match(/^((GET, HEAD|POST|PUT|PATCH|DELETE), )+OPTIONS$/);
            }
        }
    });

    it('answers an unknown path with NOT_FOUND, also if only its case or a slash differs', async () => {
        for (const path of [
            '/v1',
            '/v1/',
            '/v1/nothing',
            '/v2/health',
            '/v1/Health',
            '/v1/health/',
            '/v1/schemas/a.test/nothing',
            '//v1/health',
            '/..%2fv1',
        ]) {
            const refused = await anybody.call('GET', path);
            expect(codeOf(refused), path).to.equal('NOT_FOUND');
            checkEnvelope(path, refused);
        }
    });

    it('allows browsing from pages of every origin, and routes with a key from servers only', async () => {
        for (const { contract, path } of everyRoute(SITE)) {
            const answer = await maker.call(contract.method === 'GET' ? 'GET' : 'OPTIONS', path, {
                headers: { origin: 'https://elsewhere.test' },
            });
            const mayRead = answer.headers.get('access-control-allow-origin') === '*';
            // Two routes may share a path. The preflight then allows the methods that are open.
            const methods = answer.headers.get('access-control-allow-methods')?.split(', ') ?? [contract.method];
            expect(mayRead && methods.includes(contract.method), contract.name).to.equal(contract.auth !== 'required');
        }
    });

    it('writes times in UTC with milliseconds', async () => {
        const card = dataOf(await anybody.call('GET', `/v1/schemas/${SITE}`));
        expect(card['published_at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(Math.abs(Date.parse(String(card['published_at'])) - Date.now())).to.be.below(60_000);
    });

    describe('of browsing', () => {
        const kept = () => everyRoute(SITE).filter(({ contract }) => contract.cacheSeconds !== undefined);

        it('answers 304 if the caller has the same content, in any encoding', async () => {
            for (const { path } of kept()) {
                for (const encoding of ['identity', 'gzip']) {
                    const headers = { 'accept-encoding': encoding };
                    const first = await anybody.call('GET', path, { headers });
                    const tag = first.headers.get('etag') ?? '';
                    for (const given of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
                        const again = await anybody.call('GET', path, { headers: { ...headers, 'if-none-match': given } });
                        expect(again.status, `${path} ${given}`).to.equal(304);
                        expect(again.body).to.deep.equal({ text: '' });
                        if (given !== '*') expect(again.headers.get('etag'), path).to.equal(tag);
                        expect(again.headers.get('cache-control')).to.equal(first.headers.get('cache-control'));
                        expect(again.headers.get('access-control-allow-origin')).to.equal('*');
                    }
                    const other = await anybody.call('GET', path, { headers: { ...headers, 'if-none-match': '"other"' } });
                    expect(other.status).to.equal(200);
                }
            }
        });

        it('has different strong ETags for compressed and plain bytes', async () => {
            const tagFor = async (encoding: string) =>
                (await anybody.call('GET', '/v1/errors', { headers: { 'accept-encoding': encoding } })).headers.get('etag');
            expect(await tagFor('gzip')).not.to.equal(await tagFor('identity'));
        });

        it('changes the ETag with the content', async () => {
            const before = (await anybody.call('GET', `/v1/schemas/${SITE}`)).headers.get('etag') ?? '';
            dataOf(await maker.publish(aPackage(SITE, { title: 'Another title' })));
            const after = await anybody.call('GET', `/v1/schemas/${SITE}`, { headers: { 'if-none-match': before } });
            expect(after.status).to.equal(200);
        });

        it('ignores Range, foreign cookies and unknown conditions', async () => {
            for (const headers of [
                { range: 'bytes=0-3' },
                { cookie: 'a=";\\"' },
                { cookie: '=;=;,' },
                { 'if-modified-since': new Date().toUTCString() },
            ]) {
                expect((await anybody.call('GET', '/v1/categories', { headers })).status, JSON.stringify(headers)).to.equal(200);
            }
        });
    });

    describe('with a query', () => {
        it('refuses unknown and repeated parameters, and text with forbidden characters', async () => {
            const look = async (query: string) =>
                detailsOf(await anybody.call('GET', `/v1/catalog/${SITE}?intent=${encodeURIComponent(INTENT)}${query}`));
            expect(await look('&page=2&page=3&sort=x')).to.have.members(['/page REPEATED', '/sort UNKNOWN_FIELD']);
            expect(await look('&intent=again')).to.deep.equal(['/intent REPEATED']);
            expect(await look('&__proto__=x&constructor=y')).to.have.members(['/__proto__ UNKNOWN_FIELD', '/constructor UNKNOWN_FIELD']);
            expect(detailsOf(await anybody.call('GET', `/v1/catalog/${SITE}?intent=${'word%20'.repeat(9)}%00`))).to.deep.equal([
                '/intent INVALID_VALUE',
            ]);
            for (const path of ['/v1/health', '/v1/errors', '/v1/categories', '/v1/openapi.json']) {
                expect(detailsOf(await anybody.call('GET', `${path}?verbose=1`)), path).to.deep.equal(['/verbose UNKNOWN_FIELD']);
            }
        });

        it('refuses escapes that are not UTF-8 instead of guessing', async () => {
            const look = async (path: string) => detailsOf(await anybody.call('GET', path));
            expect(await look(`/v1/catalog/${SITE}?intent=%ff%ff%20find%20one%20product%20and%20its%20price`)).to.deep.equal([
                '/intent INVALID_VALUE',
            ]);
            for (const broken of ['%ff', 'a%C3', '%ED%A0%80', '%C0%AF', '%zz%E2%82'])
                expect(await look(`/v1/schemas?q=${broken}`), broken).to.deep.equal(['/q INVALID_VALUE']);
            expect(await look('/v1/schemas?q=%ff&q=%fe&x%ff=1')).to.have.members([
                '/q REPEATED',
                '/q INVALID_VALUE',
                '/x\ufffd INVALID_VALUE',
            ]);
            for (const fine of ['%C3%A9', '%EF%BF%BD', '100%', '%zz', 'a+b', '%F0%9F%98%80'])
                expect((await anybody.call('GET', `/v1/schemas?q=${fine}`)).status, fine).to.equal(200);
        });

        it('takes numbers and booleans only as JSON writes them', async () => {
            const refusalOf = async (query: string) => {
                const { error } = (await anybody.call('GET', `/v1/schemas?${query}`)).body as { error?: { details: unknown } };
                return error?.details;
            };
            for (const text of ['1e1', '%2010', '10%20', '+10', '%2B10', '010', '10.0', '10%0A'])
                expect(JSON.stringify(await refusalOf(`limit=${text}`)), text).to.match(/^\[{"path":"\/limit","code":"INVALID_\w+"/);
            for (const text of ['TRUE', 'True', '%20true', '1', ''])
                expect(JSON.stringify(await refusalOf(`verified=${text}`)), text).to.match(/^\[{"path":"\/verified","code":"INVALID_\w+"/);
            expect(await refusalOf('verified=FALSE&limit=010')).to.deep.equal([
                { path: '/verified', code: 'INVALID_VALUE', message: 'verified must be written as false.' },
                { path: '/limit', code: 'INVALID_VALUE', message: 'limit must be written as 10.' },
            ]);
            expect(await refusalOf('limit=10&verified=false')).to.equal(undefined);
        });

        it('takes a newline and a tab in an intent only', async () => {
            const intent = 'find\tone product\r\nand its price today';
            expect((await maker.call('GET', `/v1/catalog/${SITE}?intent=${encodeURIComponent(intent)}`)).status).to.equal(200);
            for (const q of ['a%0Ab', 'a%09b', 'a%0D%0Ab'])
                expect(detailsOf(await anybody.call('GET', `/v1/schemas?q=${q}`)), q).to.deep.equal(['/q INVALID_VALUE']);
        });
    });

    describe('at the HTTP level', () => {
        it('refuses two Host headers, since proxies disagree on which one counts', async () => {
            const refused = await sendRaw(
                world.base,
                'GET /v1/health HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\nConnection: close\r\n\r\n',
            );
            expect(refused && codeOf(refused)).to.equal('VALIDATION_ERROR');
        });

        it('refuses a request without a Host header, which only HTTP/1.0 may omit', async () => {
            const refused = await sendRaw(world.base, 'GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n');
            expect(refused && codeOf(refused)).to.equal('VALIDATION_ERROR');
            expect((await sendRaw(world.base, 'GET /v1/health HTTP/1.0\r\n\r\n'))?.status).to.equal(200);
        });

        it('refuses a Host header with a tab, which parsers of URLs drop', async () => {
            const refused = await sendRaw(world.base, 'GET /v1/health HTTP/1.1\r\nHost: a\tb.test\r\nConnection: close\r\n\r\n');
            expect(refused && codeOf(refused)).to.equal('VALIDATION_ERROR');
        });

        it('refuses two Authorization headers if a key is used, and ignores both otherwise', async () => {
            const twice = (path: string) =>
                sendRaw(world.base, rawRequest(`GET ${path} HTTP/1.1`, Array(2).fill(`Authorization: Bearer ${maker.apiKey}`)));
            const refused = await twice('/v1/account');
            expect(refused && codeOf(refused)).to.equal('INVALID_API_KEY');
            expect((await twice('/v1/health'))?.status).to.equal(200);
        });

        it('answers CONNECT with an error: it is no proxy', async () => {
            for (const target of ['/v1/fetch', 'elsewhere.test:443']) {
                const refused = await sendRaw(world.base, `CONNECT ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
                if (refused === undefined) throw new Error(`no answer to CONNECT ${target}`);
                checkEnvelope(target, refused);
                expect([refused.status, codeOf(refused), refused.headers.get('connection')]).to.deep.equal([
                    400,
                    'VALIDATION_ERROR',
                    'close',
                ]);
            }
        });

        it('answers bytes that are not HTTP in the same envelope, and closes', async () => {
            for (const garbage of [
                '\u0000\u0001\u0002\r\n\r\n',
                'hello\r\n\r\n',
                'GET / HTTP/9.9\r\n\r\n',

                'GET /v1/health HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n',
                `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
            ]) {
                const refused = await sendRaw(world.base, garbage);
                if (refused === undefined) throw new Error(`no answer to ${JSON.stringify(garbage.slice(0, 40))}`);
                expect(refused.status, garbage.slice(0, 40)).to.equal(400);
                checkEnvelope(garbage.slice(0, 40), refused);
                expect(refused.headers.get('connection')).to.equal('close');
            }
        });

        it('names the limits of request headers that are too large', async () => {
            const heads = [
                `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
                `GET /v1/health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
                rawRequest(
                    'GET /v1/health HTTP/1.1',
                    Array.from({ length: 201 }, (_, index) => `X-H${index}: 1`),
                ),
            ];
            for (const head of heads) {
                const refused = await sendRaw(world.base, head);
                expect(refused && [refused.status, codeOf(refused)]).to.deep.equal([400, 'VALIDATION_ERROR']);
                expect(refused && messageOf(refused))
                    .to.include('16 KiB')
                    .and.include('200 headers');
            }
            const garbled = await sendRaw(world.base, 'GET /v1/health HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n');
            expect(garbled && messageOf(garbled)).to.equal('The request is not well-formed HTTP/1.1.');
        });

        it('names the path as the cause if a path is malformed', async () => {
            for (const path of ['/v1/schemas/%zz', '/v1/schemas/%', '/v1/schemas/%ff']) {
                const refused = await anybody.call('GET', path);
                expect([refused.status, codeOf(refused)], path).to.deep.equal([400, 'VALIDATION_ERROR']);
                expect(messageOf(refused), path).to.match(/^The path is malformed/);
            }
        });

        it('never builds links from the Host header', async () => {
            const refused = await sendRaw(world.base, 'GET /v1/nothing HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n');
            expect(JSON.stringify(refused?.body)).not.to.include('evil.test');
        });
    });
});

describe('a slow sender', () => {
    const world = useWorld({ workers: 0, config: { arrivalMs: 300 } });

    it('is disconnected with an error if headers or body do not arrive in time', async () => {
        const maker = await join(world);
        const half = {
            nothing: '',
            'half a line': 'GET /v1/hea',
            'half the headers': 'GET /v1/health HTTP/1.1\r\nHost: a\r\nX-Half: ',
            'half a body': `POST /v1/fetch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${maker.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"site":`,
            'half a chunk': `POST /v1/fetch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${maker.apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"site":`,
        };
        await Promise.all(
            Object.entries(half).map(async ([what, bytes]) => {
                const answer = await sendRaw(world.base, bytes, { waitMs: 3000 });
                if (answer === undefined) return;
                checkEnvelope(what, answer);
                expect(codeOf(answer), what).to.equal('REQUEST_TIMEOUT');
            }),
        );
        expect((await stranger(world).call('GET', '/v1/errors')).status).to.equal(200);
    });

    it('gets a response with its request id and the headers of its route, and is counted once', async () => {
        const { apiKey } = await join(world);
        const before = world.logged.length;
        for (const [path, mayBeRead] of [
            ['/v1/schema-requests', '*'],
            ['/v1/fetch', null],
        ] as const) {
            const id = `mine-${path.length}`;
            const head = [`Authorization: Bearer ${apiKey}`, `X-Request-Id: ${id}`, 'Content-Type: application/json', 'Content-Length: 50'];
            const answer = await sendRaw(world.base, rawRequest(`POST ${path} HTTP/1.1`, head, '{"site":'), { waitMs: 3000 });
            if (answer === undefined) throw new Error(`${path} was cut off without an answer`);
            checkEnvelope(path, answer);
            expect([answer.status, codeOf(answer)], path).to.deep.equal([408, 'REQUEST_TIMEOUT']);
            expect(answer.headers.get('x-request-id'), path).to.equal(id);
            expect(answer.headers.get('access-control-allow-origin'), path).to.equal(mayBeRead);
            expect(answer.headers.get('connection'), path).to.equal('close');
            await eventually(
                async () => world.logged.filter((line) => line['request_id'] === id && line['message'] === 'answered'),
                ([line, ...more]) => line?.['route'] === path && line['status'] === 408 && more.length === 0,
            );
        }
        const others = world.logged.slice(before).filter(({ route, status }) => route === 'other' || status === 499);
        expect(others).to.deep.equal([]);
    });
});
