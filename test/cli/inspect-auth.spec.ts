import { expect } from 'chai';
import { type Call, inspectCalls, SHOP } from './inspect/har.ts';

const SECRET = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4';
const API = SHOP.replace('//', '//api.');

describe('routebook inspect finds the authentication of a recording', () => {
    const call = (path: string, headers: Record<string, string> = {}, origin = SHOP): Call => ({
        url: `${origin}${path}`,
        headers,
        json: { ok: true },
    });
    async function drafted(calls: readonly Call[]) {
        const inspected = await inspectCalls(calls, { site: 'shop.example' });
        expect(JSON.stringify(inspected)).not.to.include(SECRET);
        const { auth, endpoints } = inspected.package;
        const needs = Object.fromEntries(endpoints.map(({ url, auth: need }) => [new URL(url).pathname, need]));
        return { auth, needs, report: inspected.report };
    }

    const methods: [what: string, call: Call, entry: object][] = [
        ['a key in a header', call('/orders', { 'X-Api-Key': SECRET }), { id: 'x_api_key', type: 'header', name: 'x-api-key' }],
        ['a bearer token', call('/orders', { Authorization: `Bearer ${SECRET}` }), { id: 'token', type: 'bearer' }],
        ['user name and password', call('/orders', { Authorization: `Basic ${btoa(`ada:${SECRET}`)}` }), { id: 'login', type: 'basic' }],
        [
            'a token behind a word',
            call('/orders', { Authorization: `token ${SECRET}` }),
            { id: 'authorization', type: 'header', name: 'Authorization', prefix: 'token ' },
        ],
        ['a key in the query', call(`/orders?api_key=${SECRET}`), { id: 'api_key', type: 'query', name: 'api_key' }],
    ];
    for (const [what, carrying, entry] of methods) {
        it(`by ${what}, and never the credential`, async () => {
            const { auth, needs } = await drafted([carrying, { ...call('/orders'), status: 401 }, call('/open')]);
            expect(auth).to.deep.equal([entry]);
            expect(needs).to.deep.equal({ '/orders': 'required', '/open': 'none' });
        });
    }

    it('by a session cookie, which no endpoint requires, and not beside another credential', async () => {
        const cookie = { Cookie: `_ga=GA1.2; sessionid=${SECRET}; csrftoken=${SECRET}` };
        const { auth, needs } = await drafted([call('/orders', cookie)]);
        expect(auth).to.deep.equal([{ id: 'sessionid', type: 'cookie', name: 'sessionid' }]);
        expect(needs).to.deep.equal({ '/orders': 'optional' });
        const both = await drafted([call('/orders', { ...cookie, 'X-Api-Key': SECRET })]);
        expect(both.auth?.map(({ type }) => type)).to.deep.equal(['header']);
    });

    it('by OAuth, if the recording has the consent and the token endpoint', async () => {
        const token: Call = {
            method: 'POST',
            url: `${SHOP}/oauth/token`,
            form: { grant_type: 'authorization_code', code: SECRET, client_secret: SECRET },
            json: { access_token: SECRET, token_type: 'Bearer' },
        };
        const page: Call = {
            url: `${SHOP}/oauth/authorize?response_type=code&client_id=4711&scope=orders+stock&state=${SECRET}`,
            status: 302,
        };
        const { auth } = await drafted([page, token, call('/orders', { Authorization: `Bearer ${SECRET}` })]);
        const oauth2 = {
            authorization_url: `${SHOP}/oauth/authorize`,
            token_url: `${SHOP}/oauth/token`,
            scopes: [{ name: 'orders' }, { name: 'stock' }],
            flows: ['authorization_code'],
        };
        expect(auth).to.deep.equal([{ id: 'account', type: 'oauth2', oauth2 }]);
        const abroad = await drafted([
            { ...token, url: 'https://accounts.example.net/token' },
            page,
            call('/orders', { Authorization: `Bearer ${SECRET}` }),
        ]);
        expect(abroad.auth).to.deep.equal([{ id: 'token', type: 'bearer' }]);
        expect(JSON.stringify(abroad.report.noticed)).to.include('accounts.example.net');
    });

    it('for the hosts that got it only', async () => {
        const { auth } = await drafted([call('/orders', { 'X-Api-Key': SECRET }, API), call('/open')]);
        expect(auth).to.deep.equal([{ id: 'x_api_key', type: 'header', name: 'x-api-key', hosts: [new URL(API).hostname] }]);
    });

    it('as optional for an endpoint that was also called without, or if the site refused nobody', async () => {
        const keyed = call('/orders', { 'X-Api-Key': SECRET });
        const refused = { ...call('/mine'), status: 401 };
        expect((await drafted([keyed, call('/orders'), refused])).needs).to.deep.equal({ '/orders': 'optional' });
        expect((await drafted([keyed, keyed])).needs).to.deep.equal({ '/orders': 'optional' });
    });

    it('apart from tokens of one page and values that are computed for each request', async () => {
        const computed = `AWS4-HMAC-SHA256 Credential=${SECRET}`;
        const headers = { 'X-Csrf-Token': SECRET, Authorization: computed };
        const { auth, needs } = await drafted([call(`/orders?nonce=${SECRET}&signature=${SECRET}`, headers)]);
        expect(auth).to.equal(undefined);
        expect(needs).to.deep.equal({ '/orders': undefined });
    });

    it('and takes the token of a request from the page or the cookie that provided it', async () => {
        const html = `<html><head><title>Shop</title><meta name="csrf-token" content="${SECRET}"></head><body><h1>Orders of the day</h1>
            <p>Long enough to be read by somebody.</p></body></html>`;
        const write = (path: string, headers: Record<string, string>) => ({ ...call(path, headers), method: 'POST', body: { total: 1 } });
        const cookie = { 'X-XSRF-TOKEN': `${SECRET}=`, Cookie: `XSRF-TOKEN=${SECRET}%3D`, Referer: `${SHOP}/carts/open` };
        const { package: draft } = await inspectCalls([
            { url: `${SHOP}/orders/new`, html },
            write('/orders', { 'X-CSRF-Token': SECRET }),
            write('/carts', cookie),
            write('/notes', { 'X-CSRF-Token': 'a-token-that-no-page-had' }),
        ]);
        const of = (path: string) => draft.endpoints.find(({ url }) => url === `${SHOP}${path}`);
        expect(of('/orders')).to.deep.include({
            headers: { 'x-csrf-token': '{prepare.token}' },
            prepare: { url: `${SHOP}/orders/new`, extract: { token: { selector: 'meta[name="csrf-token"]', value: 'content' } } },
        });
        expect(of('/orders')?.hosted).not.to.equal(false);
        expect(of('/carts')).to.deep.include({
            headers: { 'x-xsrf-token': '{prepare.token}' },
            prepare: { url: `${SHOP}/carts/open`, extract: { token: { cookie: 'XSRF-TOKEN' } } },
        });
        expect(of('/notes')?.hosted).to.equal(false);
        expect(JSON.stringify(draft)).not.to.include(SECRET);
    });

    it('and makes endpoints described only if they need a one-time token, and says so', async () => {
        const write = (path: string, headers = {}, body: object = {}) => ({
            method: 'POST',
            url: `${SHOP}${path}`,
            headers,
            body,
            json: { ok: true },
        });
        const found = await inspectCalls([
            write('/orders', { 'X-CSRF-Token': SECRET }, { total: 1 }),
            write('/carts', {}, { total: 1, csrf_token: SECRET }),
            write('/notes', {}, { total: 1 }),
            call(`/reports?_wpnonce=${SECRET}`),
            call('/prices', { Authorization: `AWS4-HMAC-SHA256 Credential=${SECRET}` }),
        ]);
        const hosted = Object.fromEntries(
            found.package.endpoints.map((endpoint) => [endpoint.url.replace(SHOP, ''), endpoint.hosted ?? true]),
        );
        expect(hosted).to.deep.equal({ '/orders': false, '/carts': false, '/notes': true, '/reports': false, '/prices': false });
        const notes = found.report.noticed.filter(({ what }) => what.includes('hosted: false')).map(({ what }) => what);
        expect(notes).to.have.length(4);
        for (const name of [
            'the header x-csrf-token',
            'the field csrf_token of the body',
            'the query param _wpnonce',
            'the header authorization',
        ])
            expect(
                notes.some((note) => note.includes(name)),
                name,
            ).to.equal(true);
        for (const endpoint of found.package.endpoints)
            expect(/a new token/.test(endpoint.description ?? ''), endpoint.url).to.equal(endpoint.hosted === false);
        expect(JSON.stringify(found)).not.to.include(SECRET);
    });

    it('as required for writes after signing in, never for a stranger’s', async () => {
        const Cookie = `sessionid=${SECRET}`;
        const signIn = { method: 'POST', url: `${SHOP}/login`, form: { user: 'ada', password: SECRET }, json: { ok: true } };
        const write = (path: string, headers = {}) => ({
            method: 'POST',
            url: `${SHOP}${path}`,
            headers,
            body: { a: 1 },
            json: { ok: true },
        });
        const { needs } = await drafted([signIn, write('/orders', { Cookie }), call('/prices', { Cookie }), write('/votes')]);
        expect(needs).to.deep.equal({ '/orders': 'required', '/prices': 'optional', '/votes': 'none' });
    });
});
