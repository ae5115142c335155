import { expect } from 'chai';
import { checkEnvelope } from '../support/answers.ts';
import { CONNECTED, CONSENTED, connectedPackage, consentedPackage } from '../support/connections.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { aProvenClaim, callRoute, codeOf, dataOf, detailsOf, everyRoute, INTENT } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'shop.test';

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
                if (routes.some((route) => route.path === path && route.method === method)) continue;
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

        it('sends the same text plain and compressed, and tells caches which of both it is', async () => {
            const pages = ['/', '/docs', '/docs/errors', '/docs/packages', '/llms.txt'];
            for (const path of [...pages, ...kept().map((route) => route.path)]) {
                const read = (encoding: string) => fetch(new URL(path, world.base), { headers: { 'accept-encoding': encoding } });
                const [plain, packed] = [await read('identity'), await read('gzip')];
                const text = await plain.text();
                expect(await packed.text(), path).to.equal(text);
                expect(plain.headers.get('content-encoding'), path).to.equal(null);
                expect(packed.headers.get('content-encoding'), path).to.equal(Buffer.byteLength(text) < 1024 ? null : 'gzip');
                if (Buffer.byteLength(text) < 1024) continue;
                for (const { headers } of [plain, packed]) expect(headers.get('vary'), path).to.include('accept-encoding');
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
            expect(await refusalOf('limit=99999999999999999999')).to.deep.equal([
                { path: '/limit', code: 'INVALID_VALUE', message: 'limit must have at most 15 digits.' },
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
});
