import { expect } from 'chai';
import fc from 'fast-check';
import type { ExampleCandidate } from '../../cli/inspect/example-candidate.ts';
import type { Inspected } from '../../cli/inspect/inspect.ts';
import { type Call, endpointOf, inspectCalls, SHOP } from './inspect/har.ts';

const page = (body: string) =>
    `<!doctype html><html><head><title>Inbox of someone</title></head><body><h1>Enough text to be a page of its own, for somebody</h1>${body}</body></html>`;

/** Every place in a recording that may contain a user's value. */
const PLACES: Readonly<Record<string, (secret: string) => Call>> = {
    'a segment of a path': (secret) => ({ url: `${SHOP}/inbox/${encodeURIComponent(secret)}`, json: { n: 1 } }),
    'a query param': (secret) => ({ url: `${SHOP}/find?who=${encodeURIComponent(secret)}`, json: [] }),
    'a request header': (secret) => ({
        url: `${SHOP}/a`,
        headers: { Authorization: `Bearer ${secret}`, Cookie: `sid=${secret}`, 'X-Client': secret },
        json: {},
    }),
    'an answer header': (secret) => ({
        url: `${SHOP}/a`,
        answerHeaders: { 'Set-Cookie': `sid=${secret}`, Link: `<${SHOP}/a?at=${encodeURIComponent(secret)}>; rel="next"` },
        json: [],
    }),
    'a JSON body': (secret) => ({ method: 'POST', url: `${SHOP}/send`, body: { to: secret, deep: { list: [secret] } }, json: {} }),
    'a key of a JSON body': (secret) => ({ method: 'POST', url: `${SHOP}/send`, body: { to: { [secret]: 1 } }, json: {} }),
    'a name of a JSON body': (secret) => ({ method: 'POST', url: `${SHOP}/send`, body: { [secret]: 1, plain: 2 }, json: {} }),
    'a name of a query': (secret) => ({ url: `${SHOP}/find?${encodeURIComponent(secret)}=1&plain=2`, json: [] }),
    'a name of a form': (secret) => ({
        url: `${SHOP}/vote`,
        html: page(`<form method="post" action="/vote" id="vote-${secret}"><input name="for[${secret}]"><input name="plain"></form>`),
    }),
    'a whole JSON body': (secret) => ({ method: 'PUT', url: `${SHOP}/me`, body: secret, json: {} }),
    'a form': (secret) => ({ method: 'POST', url: `${SHOP}/form`, form: { note: secret, password: secret }, json: {} }),
    'a multipart body': (secret) => ({
        method: 'POST',
        url: `${SHOP}/multipart`,
        parts: [
            ['name="note"', secret],
            ['name="api_key"', secret],
            [`name="${secret}"`, 'x'],
        ],
    }),
    'an action in a body': (secret) => ({
        method: 'POST',
        url: `${SHOP}/act`,
        body: { action: secret, task: secret },
        json: { [secret]: 1 },
    }),
    'a JSON answer': (secret) => ({ url: `${SHOP}/me`, json: { mail: secret, friends: [{ name: secret }] } }),
    'a key of a JSON answer': (secret) => ({ url: `${SHOP}/scores`, json: { [secret]: { points: 1 } } }),
    'a page': (secret) => ({ url: `${SHOP}/page`, html: page(`<p>${secret}</p><a href="/u/${encodeURIComponent(secret)}">${secret}</a>`) }),
    'the data of a page': (secret) => ({
        url: `${SHOP}/data`,
        html: page(`<script id="state" type="application/json">{"who":"${secret}"}</script>`),
    }),
    'an input of a form': (secret) => ({
        url: `${SHOP}/edit`,
        html: page(
            `<form method="post" action="/save" id="edit"><input type="hidden" name="key" value="${secret}"><input name="text" value="${secret}"><textarea name="more">${secret}</textarea></form>`,
        ),
    }),
    'the choices of a form': (secret) => ({
        url: `${SHOP}/pick`,
        html: page(`<form action="/pick"><select name="who"><option value="${secret}">${secret}</option></select></form>`),
    }),
    'the action of a form': (secret) => ({
        url: `${SHOP}/act`,
        html: page(`<form method="post" action="/act/${encodeURIComponent(secret)}"><input name="text"></form>`),
    }),
    'GraphQL variables': (secret) => ({
        method: 'POST',
        url: `${SHOP}/graphql`,
        body: { query: 'query A($x: String) { a(x: $x) }', variables: { x: secret } },
        json: {},
    }),
    'a GraphQL text': (secret) => ({
        method: 'POST',
        url: `${SHOP}/graphql`,
        body: { query: `query B { b(x: ${JSON.stringify(secret)}) }` },
        json: {},
    }),
    'what fails': (secret) => ({ method: 'POST', url: `${SHOP}/login`, form: { user: secret, password: secret }, status: 401 }),
};

const mail = fc
    .tuple(fc.stringMatching(/^[a-z]{6,10}\.[a-z]{6,10}$/), fc.constantFrom('people.example', 'postbus.test'))
    .map(([name, host]) => `${name}@${host}`);
const phone = fc.stringMatching(/^[1-9]\d{8}$/).map((digits) => `+31 ${digits.slice(0, 2)} ${digits.slice(2, 5)} ${digits.slice(5)}`);
const token = fc.stringMatching(/^[A-Za-z0-9]{44}$/).filter((text) => (text.match(/\d/g)?.length ?? 0) > 5);
const uuid = fc.uuid();
const jwt = fc.tuple(token, token, token).map(([a, b, c]) => `eyJ${a}.eyJ${b}.${c}`);

describe('routebook inspect keeps personal data of a recording to itself', () => {
    it('repeats no mail address, phone number, id, token or web token, wherever and however often it occurred, in any output', async () => {
        await fc.assert(
            fc.asyncProperty(
                fc.oneof(mail, phone, token, uuid, jwt),
                fc.subarray(Object.keys(PLACES), { minLength: 1 }),
                fc.integer({ min: 1, max: 4 }),
                async (secret, places, times) => {
                    const calls = places.flatMap((place) => Array.from({ length: times }, () => PLACES[place]?.(secret) ?? { url: SHOP }));
                    const found = await inspectCalls([{ url: `${SHOP}/start`, html: page('') }, ...calls]);
                    expectUnspoken(found, secret);
                },
            ),
            { numRuns: 150 },
        );
    });

    for (const [place, call] of Object.entries(PLACES)) {
        it(`repeats nothing from ${place}`, async () => {
            for (const secret of [
                'wilhelmina.oosterhuis@postbus.test',
                '+31 20 555 01 34',
                'q8Zr2LmX7vTn4KbW9sYd6HpJ3fGc5RtA1eUoQiPl0Nx',
                // As a name, a token only with the value behind it.
                'wA1e00oAF14GEe20A1H3aAaaoC020a2b03fD6IB1cb75',
                '4111 1111 1111 1111',
            ])
                for (const times of [1, 4]) expectUnspoken(await inspectCalls(Array.from({ length: times }, () => call(secret))), secret);
        });
    }

    it('never makes a route of a user’s name, if the site or the user sent it as a name', async () => {
        const found = await inspectCalls([
            { method: 'POST', url: `${SHOP}/login`, form: { username: 'wilhelmina', password: 'x' }, status: 302 },
            { url: `${SHOP}/session`, json: { owner: { login: 'oosterhuis' } } },
            { url: `${SHOP}/wilhelmina`, html: page('') },
            { url: `${SHOP}/oosterhuis`, html: page('') },
            { url: `${SHOP}/boats`, json: [] },
        ]);
        expect(found.package.endpoints.map(({ url }) => url)).to.have.members([`${SHOP}/session`, `${SHOP}/{name}`, `${SHOP}/boats`]);
        expectUnspoken(found, 'wilhelmina');
        expectUnspoken(found, 'oosterhuis');
    });

    it('lists what it removed, and the personal data that it saw, by place and kind', async () => {
        const { report } = await inspectCalls([
            {
                method: 'POST',
                url: `${SHOP}/send?api_key=abcdefgh12345678`,
                headers: { Authorization: 'Bearer abcdefgh12345678', Cookie: 'a=b', 'X-RapidAPI-Key': 'abc' },
                body: { to: 'ada@people.example', password: 'x', note: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' },
            },
            { url: `${SHOP}/me`, json: { contact: { phone: '+31 20 555 01 34' } }, headers: { Cookie: 'a=b' } },
        ]);
        expect(report.redacted).to.have.deep.members([
            { where: 'query param api_key of exchange 1', kind: 'a credential' },
            { where: 'request header authorization of exchange 1', kind: 'a credential' },
            { where: 'request header x-rapidapi-key of exchange 1', kind: 'a credential' },
            { where: 'request header cookie of exchange 1 and 1 more', kind: 'a credential' },
            { where: 'field to of the request body of exchange 1', kind: 'a mail address' },
            { where: 'field password of the request body of exchange 1', kind: 'a credential' },
            { where: 'field note of the request body of exchange 1', kind: 'a GitHub token' },
            { where: 'field phone of the answer of exchange 2', kind: 'a phone number' },
        ]);
    });

    it('offers no password called p, repeats no user called u, and drafts no token or repeated password', async () => {
        const offered: ExampleCandidate[] = [];
        const found = await inspectCalls(
            [
                ...[1, 2, 3].map((id) => ({ url: `${SHOP}/songs?u=gullwing&p=seaweed&id=${id}`, json: [{ id }] })),
                ...[1, 2, 3].map((id) => ({
                    method: 'POST',
                    url: `${SHOP}/ropes`,
                    form: { u: 'gullwing', p: 'seaweed', id: `${id}` },
                    json: {},
                })),
                ...[1, 2, 3].map((id) => ({ method: 'POST', url: `${SHOP}/sails`, body: { u: 'gullwing', p: 'seaweed', id }, json: {} })),
                {
                    method: 'POST',
                    url: `${SHOP}/berths`,
                    form: { securitytoken: 'kelp', password2: 'seaweed', password_expiry: '365', name: 'x' },
                    json: {},
                },
            ],
            {
                confirmExample: (candidate) => {
                    offered.push(candidate);
                    return false;
                },
            },
        );
        expect(JSON.stringify([found, offered.map(({ params }) => Object.keys(params))])).not.to.match(/seaweed|gullwing|kelp/);
        expect(JSON.stringify(offered)).not.to.include('seaweed');
        expect(endpointOf(found, 'GET /songs').params?.map(({ name }) => name)).to.have.members(['u', 'id']);
        for (const route of ['POST /ropes', 'POST /sails'])
            expect(endpointOf(found, route).params?.map(({ name }) => name)).to.have.members(['u', 'id']);
        expect(endpointOf(found, 'POST /berths').params?.map(({ name }) => name)).to.have.members(['password_expiry', 'name']);
    });

    it('makes an enum only of values that occurred three times, and of none that people write or that names them', async () => {
        const twice = await inspectCalls(
            ['red', 'red', 'red', 'blue', 'blue'].map((colour) => ({ url: `${SHOP}/paints?colour=${colour}`, json: [] })),
        );
        expect(endpointOf(twice, 'GET /paints').params?.[0]?.schema).to.deep.equal({ type: 'string' });
        const calls = ['ada', 'bo'].flatMap((author) =>
            Array.from({ length: 5 }, () => ({
                url: `${SHOP}/posts?author=${author}&q=${author}&code=AB12CD34EF&zip=${author}`,
                json: [],
            })),
        );
        const people = await inspectCalls(calls);
        for (const { schema } of endpointOf(people, 'GET /posts').params ?? []) expect(schema).to.deep.equal({ type: 'string' });
        expect(JSON.stringify(people)).not.to.match(/ada|AB12CD34EF/);
    });

    it('offers a call as an example only if somebody can confirm it, and only if nothing looks private', async () => {
        const calls: Call[] = [
            { url: `${SHOP}/boats/17?unit=metre`, json: { id: 17 } },
            { url: `${SHOP}/mailboxes/ada%40people.example`, json: {} },
            { method: 'POST', url: `${SHOP}/boats`, body: { name: 'x' }, json: {} },
        ];
        const offered: ExampleCandidate[] = [];
        const accepted = await inspectCalls(calls, {
            confirmExample: (candidate) => {
                offered.push(candidate);
                return true;
            },
        });
        expect(offered).to.deep.equal([
            { endpoint: 'get_boat', method: 'GET', url: `${SHOP}/boats/{boat_id}`, params: { boat_id: 17, unit: 'metre' } },
        ]);
        expect(endpointOf(accepted, 'GET /boats/{boat_id}').examples).to.deep.equal([{ params: { boat_id: 17, unit: 'metre' } }]);
        const declined = await inspectCalls(calls, { confirmExample: async () => false });
        expect(JSON.stringify(declined.package)).not.to.include('examples');
    });
});

function expectUnspoken(found: Inspected, secret: string): void {
    const output = JSON.stringify(found);
    const spellings = [
        secret,
        encodeURIComponent(secret),
        new URLSearchParams({ '': secret }).toString().slice(1),
        JSON.stringify(secret).slice(1, -1),
    ];
    for (const spelling of spellings) expect(output).not.to.include(spelling);
    expect(output.toLowerCase()).not.to.include(secret.toLowerCase());
}
