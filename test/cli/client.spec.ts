import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { type CallOptions, Routebook, RoutebookError, type RoutebookOptions } from '../../cli/client/index.ts';
import { NO_POLICY } from '../../shared/domain/site/site-policy.ts';
import { eventually, patienceFor } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { makeOwner } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { openSite, type Site } from '../support/sites.ts';
import { useWorld } from '../support/world.ts';

type Answering = (request: IncomingMessage & { text: string }, response: ServerResponse) => void;

/** The error of a call. */
async function errorOf(call: Promise<unknown>): Promise<RoutebookError> {
    const error = await call.then(
        () => undefined,
        (reason: unknown) => reason,
    );
    if (error instanceof RoutebookError) return error;
    throw new Error(`no RoutebookError, but ${String(error)}`);
}

function refusal(code: string, more: Record<string, unknown> = {}): object {
    return { success: false, error: { code, message: 'No.', status: 503, fault: 'service', retryable: false, ...more }, meta: {} };
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

describe('the client, with any behaviour of a server', () => {
    const servers: Site[] = [];

    afterEach(async () => {
        for (const server of servers.splice(0)) await server.close();
    });

    /** A server with these responses, one after the other. The last one is repeated. */
    async function serverSaying(...answers: Answering[]): Promise<Site & { client(options?: Partial<RoutebookOptions>): Routebook }> {
        let turn = 0;
        const site = await openSite((request, response) => answers[Math.min(turn++, answers.length - 1)]?.(request, response));
        servers.push(site);
        return {
            ...site,
            client: (options) => new Routebook({ baseUrl: `http://127.0.0.1:${site.port}/`, apiKey: 'rb_live_test', ...options }),
        };
    }

    const ok: Answering = (_request, response) => answer(response, 200, { success: true, data: { id: 7 }, meta: { credits_used: 1 } });
    const busy: Answering = (_request, response) => answer(response, 503, refusal('SERVICE_UNAVAILABLE', { retryable: true }));
    const cut: Answering = (_request, response) => void response.destroy();
    const order = { site: SHOP, endpoint: 'product', params: { id: 7 } };

    it('sends a bigint, and a number that it read, with all their digits', async () => {
        const server = await serverSaying((_request, response) => {
            response
                .writeHead(200, { 'content-type': 'application/json' })
                .end('{"success":true,"data":{"id":9007199254740993},"meta":{}}');
        });
        const client = server.client();
        const { data } = await client.fetch({ site: 'a.test', endpoint: 'a', params: { id: 9007199254740995n, list: [[1n]] } });
        await client.fetch({ site: 'a.test', endpoint: 'a', params: { id: data['id'] ?? null } });
        expect(server.seen.map(({ body }) => body)).to.deep.equal([
            '{"site":"a.test","endpoint":"a","params":{"id":9007199254740995,"list":[[1]]}}',
            '{"site":"a.test","endpoint":"a","params":{"id":9007199254740993}}',
        ]);
    });

    it('keeps the digits of numbers that JavaScript rounds', async () => {
        const long: Answering = (_request, response) =>
            response.setHeader('content-type', 'application/json').end('{"success":true,"data":{"id":9007199254740993,"n":7},"meta":{}}');
        const { data } = await (await serverSaying(long)).client().fetch(order);
        expect(JSON.stringify(data)).to.equal('{"id":9007199254740993,"n":7}');
        expect(`${data['id']}`).to.equal('9007199254740993');
        expect(data['n']).to.equal(7);
    });

    it('retries what the server calls retryable, with the same body and the same Idempotency-Key', async () => {
        const server = await serverSaying(busy, busy, ok);
        const waits: number[] = [];
        const client = server.client({ onRetry: ({ code }, waitMs) => waits.push(code === 'SERVICE_UNAVAILABLE' ? waitMs : Number.NaN) });
        expect((await client.fetch(order)).data).to.deep.equal({ id: 7 });
        expect(server.seen).to.have.length(3);
        const keys = new Set(server.seen.map(({ headers }) => headers['idempotency-key']));
        expect(keys.size).to.equal(1);
        expect([...keys][0]).to.match(/^[0-9a-f]{32}$/);
        expect(new Set(server.seen.map(({ body }) => body)).size).to.equal(1);
        expect(waits).to.have.length(2);
        expect(waits[0]).to.be.within(125, 250);
        expect(waits[1]).to.be.within(250, 500);
        await client.fetch(order);
        expect(server.seen[3]?.headers['idempotency-key']).not.to.equal([...keys][0]);
    });

    it('repeats a publish whose response was lost, also one that follows a named version', async () => {
        const server = await serverSaying(cut, ok);
        await server.client().schemas.publish({}, { ifMatch: 'a'.repeat(64) });
        expect(server.seen.map(({ headers }) => headers['if-match'])).to.deep.equal(Array(2).fill(`"${'a'.repeat(64)}"`));
    });

    it('waits as long as the server says, and a little longer', async () => {
        const limited: Answering = (_request, response) =>
            answer(response, 429, refusal('RATE_LIMITED', { retryable: true, retry_after: 1 }));
        const server = await serverSaying(limited, ok);
        const began = performance.now();
        let waited = 0;
        await server.client({ onRetry: (_error, waitMs) => (waited = waitMs) }).fetch(order);
        expect(waited).to.be.within(1000, 1200);
        expect(performance.now() - began).to.be.greaterThan(950);
    });

    it('gives up at once if the wait would be longer than its timeout', async () => {
        const limited: Answering = (_request, response) =>
            answer(response, 429, refusal('RATE_LIMITED', { retryable: true }), { 'retry-after': '3600' });
        const server = await serverSaying(limited);
        const began = performance.now();
        const error = await errorOf(server.client().fetch(order));
        expect(error).to.include({ code: 'RATE_LIMITED', status: 429, retryAfter: 3600, retryable: true });
        expect(server.seen).to.have.length(1);
        expect(performance.now() - began).to.be.lessThan(patienceFor(5000));
    });

    it('returns all details of a server’s error', async () => {
        const said = refusal('INSUFFICIENT_CREDITS', {
            status: 402,
            fault: 'caller',
            request_id: 'req_1',
            doc_url: 'http://localhost/docs/errors#INSUFFICIENT_CREDITS',
            details: [{ path: '/params/id', code: 'REQUIRED', message: 'It is required.' }],
            upgrade_to: 'pro',
            upgrade_url: 'http://localhost/upgrade',
            upstream: { status: 503, snippet: 'down' },
            did_you_mean: ['product'],
        });
        const server = await serverSaying((_request, response) =>
            answer(response, 402, { ...said, meta: { credits_used: 0, credits_remaining: 3 } }),
        );
        const error = await errorOf(server.client().fetch(order, { idempotencyKey: 'my-own' }));
        expect(error).to.be.instanceOf(Error);
        expect(error).to.deep.include({
            name: 'RoutebookError',
            code: 'INSUFFICIENT_CREDITS',
            message: 'No.',
            status: 402,
            fault: 'caller',
            retryable: false,
            requestId: 'req_1',
            docUrl: 'http://localhost/docs/errors#INSUFFICIENT_CREDITS',
            details: [{ path: '/params/id', code: 'REQUIRED', message: 'It is required.' }],
            upgrade: { to: 'pro', url: 'http://localhost/upgrade' },
            upstream: { status: 503, snippet: 'down' },
            didYouMean: ['product'],
            creditsUsed: 0,
            creditsRemaining: 3,
            idempotencyKey: 'my-own',
        });
        expect(server.seen[0]?.headers['idempotency-key']).to.equal('my-own');
    });

    it('ends at its timeout, and names the key that still gets the response', async () => {
        const server = await serverSaying(() => {});
        const error = await errorOf(server.client().fetch(order, { timeoutMs: 200 }));
        expect(error).to.include({ code: 'TIMEOUT', status: 0 });
        expect(error.idempotencyKey).to.equal(server.seen[0]?.headers['idempotency-key']);
    });

    it('ends with the signal of its caller, while it is sent and while it waits', async () => {
        const reasons: unknown[] = [];
        for (const [answers, when] of [
            [() => {}, 'sent'],
            [busy, 'waiting'],
        ] as const) {
            const controller = new AbortController();
            const stop = () => controller.abort(when);
            const server = await serverSaying((request, response) => {
                answers(request, response);
                if (when === 'sent') stop();
            });
            const options: CallOptions = { signal: controller.signal };
            const call = server.client({ onRetry: stop }).fetch(order, options);
            await call.catch((reason: unknown) => reasons.push(reason));
        }
        expect(reasons).to.deep.equal(['sent', 'waiting']);
        const already = await serverSaying(ok);
        await already
            .client()
            .account({ signal: AbortSignal.abort('before') })
            .catch((reason: unknown) => reasons.push(reason));
        expect(reasons).to.deep.equal(['sent', 'waiting', 'before']);
        expect(already.seen).to.have.length(0);
    });

    it('rejects invalid responses: a page of a proxy, half a body, a redirect', async () => {
        const page: Answering = (_request, response) =>
            response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
        const behind = await serverSaying(page, ok);
        expect(await behind.client().account()).to.deep.equal({ id: 7 });
        const html: Answering = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
        expect(await errorOf((await serverSaying(html)).client().account())).to.include({ code: 'INVALID_ANSWER', status: 200 });
        const away = await serverSaying(ok);
        const moved: Answering = (_request, response) =>
            response.writeHead(307, { location: `http://127.0.0.1:${away.port}/v1/fetch` }).end();
        expect(await errorOf((await serverSaying(moved)).client().fetch(order))).to.include({ code: 'INVALID_ANSWER', status: 307 });
        expect(away.seen).to.deep.equal([]);
    });

    it('reads an error whose fields are null like one without them', async () => {
        const refused: Answering = (_request, response) =>
            response
                .writeHead(404, { 'content-type': 'application/json' })
                .end('{"error":{"code":"SITE_NOT_FOUND","message":"m","fault":null,"details":null,"did_you_mean":null}}');
        const error = await errorOf((await serverSaying(refused)).client().account());
        expect(error).to.deep.include({ code: 'SITE_NOT_FOUND', status: 404, fault: 'service', details: [], didYouMean: [] });
    });

    it('reads a list page by page, and no further than its caller', async () => {
        const pages: Answering = (request, response) => {
            const cursor = new URL(request.url ?? '', 'http://server').searchParams.get('cursor');
            const first = Number(cursor ?? 0);
            const data = [{ site: `s${first}.example` }, { site: `s${first + 1}.example` }];
            const next = first < 4 ? String(first + 2) : null;
            answer(response, 200, { success: true, data, meta: { pagination: { limit: 2, next_cursor: next, total: 6 } } });
        };
        const server = await serverSaying(pages);
        const list = server.client().schemas.list({ q: 'a b&c', category: 'commerce', verified: true, sort: 'name', limit: 2 });
        const sites: string[] = [];
        for await (const { site } of list) sites.push(site);
        expect(sites).to.deep.equal(['s0.example', 's1.example', 's2.example', 's3.example', 's4.example', 's5.example']);
        expect(server.seen[0]?.path).to.equal('/v1/schemas?q=a%20b%26c&category=commerce&verified=true&sort=name&limit=2');
        server.seen.length = 0;
        for await (const { site } of list) if (site === 's1.example') break;
        expect(server.seen).to.have.length(1);
        expect(await list.page('4')).to.deep.include({ total: 6, nextCursor: null });
    });

    it('stops at a list that has no end', async () => {
        let turn = 0;
        const ends: Record<string, (count: number) => { data: object[]; next: string | undefined }> = {
            'the same cursor': () => ({ data: [{}], next: 'again' }),
            'no items': (count) => ({ data: [], next: `c${count}` }),
            'no cursor': () => ({ data: [{}], next: undefined }),
        };
        for (const [name, pageAt] of Object.entries(ends)) {
            const server = await serverSaying((_request, response) => {
                const { data, next } = pageAt(turn++);
                answer(response, 200, { success: true, data, meta: { pagination: { limit: 1, next_cursor: next, total: 1 } } });
            });
            const read = async () => {
                for await (const _card of server.client().schemas.list());
            };
            expect(await errorOf(read()), name).to.include({ code: 'INVALID_ANSWER' });
            expect(server.seen.length, name).to.be.at.most(2);
        }
    });

    it('reads no list into memory that has more items than the caller takes', async () => {
        let turn = 0;
        const server = await serverSaying((_request, response) => {
            const data = Array.from({ length: 100 }, () => ({}));
            answer(response, 200, { success: true, data, meta: { pagination: { limit: 100, next_cursor: `c${turn++}`, total: 1 } } });
        });
        const error = await errorOf(server.client().webhooks.list().all());
        expect(error).to.include({ code: 'INVALID_ANSWER', message: 'The list has more than 1,000 items.' });
        expect(server.seen).to.have.length(11);
    });

    it('reads a list into memory whose page is larger than usual', async () => {
        const data = Array.from({ length: 200_000 }, () => 0);
        const server = await serverSaying((_request, response) => {
            answer(response, 200, { success: true, data, meta: { pagination: { limit: 1, next_cursor: null, total: 1 } } });
        });
        const list = server.client().webhooks.list();
        expect(await list.all(data.length)).to.have.length(data.length);
        expect(await errorOf(list.all(data.length - 1))).to.include({ message: 'The list has more than 199,999 items.' });
    });

    it('reports the health of a server that cannot serve fetches', async () => {
        const data = { status: 'unavailable', version: '1', checks: { database: 'ok', queue: 'ok', workers: 'down' } };
        const ill: Answering = (_request, response) =>
            answer(response, 503, { ...refusal('SERVICE_UNAVAILABLE', { retryable: true }), data });
        const server = await serverSaying(ill);
        expect(await server.client().health()).to.deep.equal(data);
    });

    it('encodes each id in a path as one segment', async () => {
        const server = await serverSaying(ok);
        const client = server.client();
        await client.schemas.get('a/../b?c');
        await client.maintainers.remove('shop.example', 'wsp_1/x');
        await client.schemas.unyank('shop.example', 3);
        await client.claims.check('shop.example', 'clm_1/x');
        await client.policies.get('a/b');
        await client.schemas.package('shop.example', { version: 2, format: 'tools' });
        expect(server.seen.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
            'GET /v1/schemas/a%2F..%2Fb%3Fc',
            'DELETE /v1/schemas/shop.example/maintainers/wsp_1%2Fx',
            'DELETE /v1/schemas/shop.example/versions/3/yank',
            'POST /v1/sites/shop.example/claims/clm_1%2Fx/check',
            'GET /v1/sites/a%2Fb/policy',
            'GET /v1/schemas/shop.example/package?version=2&format=tools',
        ]);
    });

    it('needs the address of a server', () => {
        for (const baseUrl of ['', 'localhost:8080', 'ftp://localhost', 'http://key@localhost', 'http://localhost?a=1']) {
            expect(() => new Routebook({ baseUrl }), baseUrl).to.throw(TypeError);
        }
    });
});

describe('the client against a running server', () => {
    const world = useWorld({ config: { egressHosts: new Map([...SHOP_HOSTS, ['claimed.test', ['127.0.0.1']]]) } });
    const shop = useShop();
    let ada: Person;
    let client: Routebook;

    before(async () => {
        ada = await join(world);
        client = new Routebook({ baseUrl: world.base, apiKey: ada.apiKey ?? '' });
        expect(await client.schemas.publish(shopPackage(shop.port), { dryRun: true })).to.include({ created: false, version: 1 });
        expect(await client.schemas.publish(shopPackage(shop.port))).to.include({ created: true, version: 1 });
    });

    it('calls an endpoint, and reports its exact cost', async () => {
        const { data, meta } = await client.fetch<{ id: number; title: string }>({ site: SHOP, endpoint: 'product', params: { id: 7 } });
        expect(data.title).to.equal('Product 7');
        expect(meta).to.include({ credits_used: 1, site: SHOP, endpoint: 'product', version: 1 });
    });

    it('is charged once, and the site called once, if the response of a write was lost', async () => {
        const before = (await client.account()).credits.balance;
        const asked = shop.seen.length;
        let lost = 0;
        const careless: typeof fetch = async (input, init) => {
            const response = await fetch(input, init);
            await response.text();
            if (lost++ === 0) throw new TypeError('fetch failed');
            return fetch(input, init);
        };
        const unlucky = new Routebook({ baseUrl: world.base, apiKey: ada.apiKey ?? '', fetch: careless });
        const { data, meta } = await unlucky.fetch({ site: SHOP, endpoint: 'order', params: { product: 3 } });
        expect(data).to.deep.include({ method: 'POST' });
        expect(meta.credits_used).to.equal(1);
        expect(shop.seen.length - asked).to.equal(1);
        expect((await client.account()).credits.balance).to.equal(before - 1);
    });

    it('reads every public route', async () => {
        const found = await client.find('horoscope for Leo this week', { limit: 5 });
        expect(found.data).to.deep.equal([]);
        expect(found.meta.pagination).to.deep.equal({ limit: 5, next_cursor: null, total: 0 });
        expect(found.meta.suggestion?.request).to.include({ task: 'horoscope for Leo this week' });
        const catalog = await client.catalog(SHOP, { intent: 'find the price of a product in the shop' });
        expect(catalog.endpoints.map(({ name }) => name)).to.include('product');
        const { meta } = await client.fetch({ site: SHOP, endpoint: 'product', params: { id: 1 } }, { sessionId: catalog.session_id });
        expect(meta.credits_used).to.equal(1);
        expect(await client.schemas.get(SHOP)).to.deep.include({ site: SHOP, version: 1, verified: false });
        const downloaded = await client.schemas.package(SHOP);
        expect(downloaded).to.include({ site: SHOP, version: 1, format: 'routebook/1' });
        expect(await client.schemas.package(SHOP, { version: downloaded.version_hash })).to.deep.equal(downloaded);
        expect(await client.account()).to.include({ workspace_id: ada.workspaceId, plan: 'free' });
        expect((await client.categories()).map(({ slug }) => slug)).to.include('commerce');
        expect((await client.errors()).map(({ code }) => code)).to.include('INSUFFICIENT_CREDITS');
        expect((await client.health()).status).to.equal('ok');
        expect(await client.openapi()).to.include({ openapi: '3.1.0' });
    });

    it('lists, and reads what only some sites have', async () => {
        const cards = [];
        for await (const card of client.schemas.list({ sort: 'name', limit: 1 })) cards.push(card.site);
        expect(cards).to.deep.equal([SHOP]);
        const [version] = (await client.schemas.versions(SHOP).page()).items;
        expect(version).to.include({ version: 1, yanked: false, change: 'major' });
        const [maintainer] = (await client.maintainers.list(SHOP).page()).items;
        expect(maintainer).to.include({ workspace_id: ada.workspaceId });
        const tools = await client.schemas.package(SHOP, { format: 'tools' });
        expect(tools.map(({ name }) => name)).to.include('product');
        expect(await client.schemas.package(SHOP, { format: 'openapi' })).to.include({ openapi: '3.1.0' });
        expect((await client.trending({ window: '30d' })).window).to.equal('30d');
    });

    it('publishes, yanks and restores, shares a site, and requests one that is missing', async () => {
        const site = 'shared.test';
        const bob = await join(world);
        await client.schemas.publish(aPackage(site));
        expect(await client.schemas.yank(site, 1, { reason: 'broken' })).to.include({ version: 1, yanked: true });
        expect((await errorOf(client.schemas.get(site))).code).to.equal('SITE_NOT_FOUND');
        expect(await client.schemas.unyank(site, 1)).to.include({ version: 1, yanked: false });
        expect(await client.maintainers.add(site, bob.workspaceId)).to.have.length(2);
        const [, leaving] = await client.maintainers.remove(site, bob.workspaceId);
        expect(Date.parse(leaving?.removal_at ?? '')).to.be.greaterThan(Date.now());
        const { request_id } = await client.requests.create({
            domain: 'missing.test',
            task: 'compare the prices of a product over all sizes',
        });
        expect(await client.requests.get(request_id)).to.include({ domain: 'missing.test', status: 'open', demand: 1 });
    });

    it('claims a domain, sets its policy, and reads the audit', async () => {
        const claim = await client.claims.create('www.claimed.test');
        expect(claim).to.include({ domain: 'claimed.test', status: 'pending' });
        const listed = [];
        for await (const { claim_id } of client.claims.list('claimed.test', { limit: 1 })) listed.push(claim_id);
        expect(listed).to.deep.equal([claim.claim_id]);
        expect((await client.claims.check('claimed.test', claim.claim_id)).status).to.equal('failed');
        expect((await errorOf(client.policies.get('claimed.test'))).code).to.equal('CLAIM_REQUIRED');
        await makeOwner(world.app.db, 'claimed.test', ada.workspaceId);
        await world.app.db.raw('update maintainers set proven_at = app_now() where registrable = ?', ['claimed.test']);
        expect(await client.policies.set('claimed.test', { writes: false })).to.deep.equal({ ...NO_POLICY, writes: false });
        expect(await client.policies.get('claimed.test')).to.include({ writes: false });
        expect(await client.claims.delete('claimed.test', claim.claim_id)).to.deep.equal({ claim_id: claim.claim_id, deleted: true });
        const [act] = (await client.audit({ action: 'policy.changed' }).page()).items;
        expect(act).to.include({ action: 'policy.changed', target: 'claimed.test' });
    });

    it('sends the same claim once, even if its response is lost', async () => {
        const broken: typeof fetch = async (input, init) => {
            await (await fetch(input, init)).text();
            throw new TypeError('fetch failed');
        };
        const unlucky = new Routebook({ baseUrl: world.base, apiKey: ada.apiKey ?? '', fetch: broken });
        expect((await errorOf(unlucky.claims.create('lost.test'))).code).to.equal('NETWORK_ERROR');
        expect((await client.claims.list('lost.test').page()).items).to.have.length(1);
    });

    it('reports a leaked key, which stops working', async () => {
        const eve = await join(world);
        const [entry] = await client.keys.report({ keys: [eve.apiKey ?? ''] });
        expect(entry).to.include({ label: 'true_positive' });
        const theirs = new Routebook({ baseUrl: world.base, apiKey: eve.apiKey ?? '' });
        const codeOf = () =>
            theirs.account().then(
                () => undefined,
                ({ code }: RoutebookError) => code,
            );
        await eventually(codeOf, (code) => code === 'INVALID_API_KEY');
    });

    it('turns a refusal into an error that names every problem', async () => {
        const error = await errorOf(client.fetch({ site: SHOP, endpoint: 'product', params: { id: 'x' } }));
        expect(error).to.include({ code: 'INVALID_PARAMS', status: 400, fault: 'caller', retryable: false, creditsUsed: 0 });
        expect(error.details[0]).to.include({ path: '/params/id', code: 'INVALID_TYPE' });
        expect((await errorOf(new Routebook({ baseUrl: world.base }).account())).code).to.equal('API_KEY_REQUIRED');
    });
});
