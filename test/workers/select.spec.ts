import { expect } from 'chai';
import type { Endpoint, JsonObject } from '../../shared/domain/types.ts';
import { createReader, type Reader } from '../../workers/select/reader.ts';
import type { Page } from '../../workers/upstream.ts';

const NOTHING: Endpoint['response'] = { type: undefined, select: undefined, schema: undefined };

/** Accepts everything, and is validated in a thread. The inline result must be the same. */
const IN_A_THREAD = { allOf: [true] };

function page(body: string | Uint8Array, contentType: string | null = 'application/json', more: Partial<Page> = {}): Page {
    const headers = contentType === null ? {} : { 'content-type': contentType };
    return { status: 200, headers, body: Buffer.from(body), url: 'https://shop.test/list/1', method: 'GET', ...more };
}

/** More results than any answer has. */
const ALL = { results: 'items', maxResults: Number.MAX_SAFE_INTEGER };

describe('reading a site’s response', () => {
    let reader: Reader;
    before(() => {
        reader = createReader({ threads: 1 });
    });
    after(() => reader.close());

    const read = (from: Page, response: Partial<Endpoint['response']> = {}, wanted = ALL) =>
        reader.read(from, { response: { ...NOTHING, ...response } }, wanted);

    async function dataOf(from: Page, response: Partial<Endpoint['response']> = {}): Promise<JsonObject> {
        const reading = await read(from, response);
        if (!reading.ok) throw new Error(`${reading.code}: ${reading.message}`);
        return JSON.parse(reading.text) as JsonObject;
    }

    async function refusalOf(from: Page, response: Partial<Endpoint['response']> = {}) {
        const reading = await read(from, response);
        if (reading.ok) throw new Error('it was read');
        return reading;
    }

    describe('as the text for its caller', () => {
        const textOf = async (body: string, wanted = ALL, type = 'application/json') => {
            const reading = await reader.read(page(body, type), { response: NOTHING }, wanted);
            if (!reading.ok) throw new Error(`${reading.code}: ${reading.message}`);
            return reading;
        };

        for (const size of ['small', 'large']) {
            // Large bodies are read in a thread.
            const more = size === 'large' ? `,"more":"${'x'.repeat(100_000)}"` : '';

            it(`keeps ${size} JSON as the site wrote it, with numbers that JavaScript rounds`, async () => {
                const body = `{ "id": 12345678901234567890, "price": 1.10${more} }`;
                expect((await textOf(body)).text).to.equal(body);
            });

            it(`wraps a ${size} list as the site wrote it`, async () => {
                const body = `[ 12345678901234567890, {"n":1${more}} ]`;
                expect(await textOf(body)).to.deep.equal({
                    ok: true,
                    text: `{"items":${body}}`,
                    results: 2,
                    isListed: true,
                    truncated: false,
                });
            });

            it(`keeps the first results of ${size} responses`, async () => {
                const cut = await textOf(`{"rows":[1,2,3]${more}}`, { results: 'rows', maxResults: 2 });
                expect(JSON.parse(cut.text)).to.deep.include({ rows: [1, 2] });
                expect(cut).to.deep.include({ results: 2, isListed: true, truncated: true });
            });

            it(`returns only what was validated of ${size} JSON with a duplicate key`, async () => {
                const schema = { type: 'object', properties: { id: { type: 'integer' } } };
                const body = `{"id":"<b>","id":7,"rows":[{"a":":","a":{"b":1}}]${more}}`;
                const reading = await read(page(body), { schema });
                expect(reading.ok && reading.text).to.equal(`{"id":7,"rows":[{"a":{"b":1}}]${more}}`);
            });

            it(`returns a number that no double holds as it was written, a number to a schema, in ${size} JSON`, async () => {
                const body = `{"id":1e999${more}}`;
                expect((await textOf(body)).text).to.include('"id":1e999');
                for (const type of ['number', 'integer']) {
                    const reading = await read(page(body), { schema: { properties: { id: { type } } } });
                    expect(reading.ok && reading.text).to.include('"id":1e999');
                }
            });

            it(`reports that ${size} responses have no results to count`, async () => {
                expect(await textOf(`{"rows":null${more}}`)).to.deep.include({ results: 1, isListed: false, truncated: false });
            });
        }

        it('wraps a scalar as the site wrote it', async () => {
            expect((await textOf('12345678901234567890')).text).to.equal('{"value":12345678901234567890}');
        });
    });

    describe('as an object, always', () => {
        for (const [what, body, data] of [
            ['an object', '{"a":1}', { a: 1 }],
            ['a list', '[1,2]', { items: [1, 2] }],
            ['a text', '"a"', { value: 'a' }],
            ['a number', '7', { value: 7 }],
            ['null', 'null', { value: null }],
        ] as const) {
            it(`wraps ${what}`, async () => expect(await dataOf(page(body))).to.deep.equal(data));
            it(`wraps ${what} in the thread as well`, async () =>
                expect(await dataOf(page(body), { schema: IN_A_THREAD })).to.deep.equal(data));
        }

        it('returns plain text as a value', async () =>
            expect(await dataOf(page('hello\n', 'text/plain'))).to.deep.equal({ value: 'hello\n' }));
        it('returns nothing for 204', async () => expect(await dataOf(page('', null, { status: 204 }))).to.deep.equal({}));
        it('returns nothing for HEAD', async () => expect(await dataOf(page('', 'text/html', { method: 'HEAD' }))).to.deep.equal({}));

        it('keeps a key called __proto__ as the site sent it, without an effect', async () => {
            for (const schema of [undefined, IN_A_THREAD]) {
                const data = await dataOf(page('{"__proto__":{"polluted":1},"a":1}'), { schema });
                expect(JSON.stringify(data)).to.equal('{"__proto__":{"polluted":1},"a":1}');
                expect(Object.getPrototypeOf(data)).to.equal(Object.prototype);
            }
            expect(Reflect.get({}, 'polluted')).to.equal(undefined);
        });
    });

    describe('by its content type and charset', () => {
        it('treats +json as JSON, XML as text, and an unknown type by its first characters', async () => {
            expect(await dataOf(page('{"a":1}', 'application/vnd.api+json'))).to.deep.equal({ a: 1 });
            expect(await dataOf(page('<a/>', 'application/xml'))).to.deep.equal({ value: '<a/>' });
            expect(await dataOf(page(' {"a":1}', null))).to.deep.equal({ a: 1 });
            expect(await dataOf(page('hello', null))).to.deep.equal({ value: 'hello' });
            expect(await dataOf(page('<p>hi</p>', null))).to.include({ markdown: 'hi' });
        });

        it('uses the type of the package if it has one', async () => {
            expect(await dataOf(page('{"a":1}', 'text/plain'), { type: 'json' })).to.deep.equal({ a: 1 });
            expect(await dataOf(page('{"a":1}', 'application/json'), { type: 'text' })).to.deep.equal({ value: '{"a":1}' });
        });

        for (const [label, bytes] of [
            ['iso-8859-1', Buffer.from('"\xe9"', 'latin1')],
            ['UTF-16LE', Buffer.from('"\u00e9"', 'utf16le')],
            ['utf-16', Buffer.from('\ufeff"\u00e9"', 'utf16le')],
            ['UTF16', Buffer.from('\ufeff"\u00e9"', 'utf16le').swap16()],
            ['shift_jis', Buffer.from([0x22, 0x83, 0x41, 0x22])],
            ['"utf-8"', Buffer.from('"\u00e9"')],
        ] as const) {
            it(`decodes JSON in ${label}`, async () => {
                expect(await dataOf(page(bytes, `application/json; charset=${label}`))).to.deep.equal({
                    value: label === 'shift_jis' ? 'ア' : 'é',
                });
            });
        }

        it('decodes HTML by its meta charset', async () => {
            const html = Buffer.from('<html><head><meta charset="iso-8859-1"><title>Caf\xe9</title></head></html>', 'latin1');
            expect(await dataOf(page(html, 'text/html'))).to.include({ title: 'Café' });
        });

        it('decodes a page whose ASCII meta says UTF-16 as UTF-8, like browsers', async () => {
            const html = '<html><head><meta charset="utf-16"><title>Café</title></head></html>';
            expect(await dataOf(page(html, 'text/html'))).to.include({ title: 'Café' });
        });

        it('drops a byte order mark', async () => expect(await dataOf(page('\ufeff{"a":1}'))).to.deep.equal({ a: 1 }));

        it('decodes an unknown charset as UTF-8, and invalid bytes as U+FFFD', async () => {
            expect(await dataOf(page('{}', 'application/json; charset=klingon'))).to.deep.equal({});
            expect(await dataOf(page(Buffer.from([0x22, 0xff, 0x22])))).to.deep.equal({ value: '\ufffd' });
        });
    });

    describe('through a select', () => {
        const shop = JSON.stringify({
            products: [
                { id: 1, name: 'Shoe', price: { amount: 5 } },
                { id: 2, name: 'Boot', price: { amount: 9 } },
            ],
            total: 2,
        });

        it('maps names to expressions', async () => {
            const select = { items: 'products[].{id: id, title: name, price: price.amount}', total: 'total', none: 'nope.at.all' };
            expect(await dataOf(page(shop), { select })).to.deep.equal({
                items: [
                    { id: 1, title: 'Shoe', price: 5 },
                    { id: 2, title: 'Boot', price: 9 },
                ],
                total: 2,
                none: null,
            });
        });

        it('runs one expression and wraps its result', async () => {
            expect(await dataOf(page(shop), { select: 'products[].id' })).to.deep.equal({ items: [1, 2] });
            expect(await dataOf(page(shop), { select: 'length(products)' })).to.deep.equal({ value: 2 });
        });

        it('finds nothing on the prototype of objects', async () => {
            const select = { a: 'constructor', b: 'products[0].toString', c: 'hasOwnProperty' };
            expect(await dataOf(page(shop), { select })).to.deep.equal({ a: null, b: null, c: null });
        });

        it('selects from JSON with a text or script type', async () => {
            for (const type of ['text/plain', 'application/javascript; charset=utf-8']) {
                expect(await dataOf(page(shop, type), { select: 'products[].id' }), type).to.deep.equal({ items: [1, 2] });
                expect(await dataOf(page(shop, type), { select: { total: 'total' } }), type).to.deep.equal({ total: 2 });
                expect(await dataOf(page(shop, type)), type).to.deep.equal({ value: shop });
            }
        });

        for (const [what, from, select, path] of [
            ['a page of HTML in place of JSON', page('<h1>Down for maintenance</h1>', 'text/html'), 'products[].id', '/select'],
            ['text in place of JSON', page('Down for maintenance', 'text/plain'), 'products[].id', '/select'],
            ['text in place of HTML', page('Down for maintenance', 'text/plain'), { title: 'h1' }, '/select'],
            ['JSON in place of HTML', page('{"h1":7}'), { title: 'title', list: ['h1'] }, '/select/list'],
            ['JSON in place of HTML', page('{"h1":7}'), { title: { selector: 'h1', value: 'id' } }, '/select/title'],
        ] as const) {
            it(`refuses ${what}, from which it would select nothing or something else (${path})`, async () => {
                for (const schema of [undefined, IN_A_THREAD]) {
                    const refusal = await refusalOf(from, { select: select as NonNullable<Endpoint['response']['select']>, schema });
                    expect(refusal.code).to.equal('UPSTREAM_INVALID_RESPONSE');
                    expect(refusal.details.map((detail) => `${detail.path} ${detail.code}`)).to.deep.equal([`${path} INVALID_TYPE`]);
                }
            });
        }

        it('names the expression that does not match', async () => {
            const refusal = await refusalOf(page(shop), { select: { ok: 'total', bad: 'abs(products)' } });
            expect(refusal.code).to.equal('UPSTREAM_INVALID_RESPONSE');
            expect(refusal.details.map(({ path }) => path)).to.deep.equal(['/select/bad']);
        });

        it('names the selector of HTML that does not match, with its place', async () => {
            const select = { ok: 'li', items: [{ selector: 'li', value: { name: 'b', bad: 'b:frobnicate' } }] };
            const refusal = await refusalOf(page('<li><b>1</b>', 'text/html'), { select });
            expect(refusal.details.map(({ path, code }) => `${path} ${code}`)).to.deep.equal(['/select/items/0/value/bad INVALID_VALUE']);
        });

        it('selects values from HTML in the form of cheerio, null for missing ones', async () => {
            const html = '<ul><li><a href="/1">One</a><b>5</b></li><li><a href="/2">Two</a></li></ul>';
            const select = {
                names: ['li a'],
                first: 'li a',
                none: 'h1',
                items: [{ selector: 'li', value: { href: { selector: 'a', value: 'href' }, price: 'b' } }],
            };
            expect(await dataOf(page(html, 'text/html'), { select })).to.deep.equal({
                names: ['One', 'Two'],
                first: 'One',
                none: null,
                items: [
                    { href: 'https://shop.test/1', price: '5' },
                    { href: 'https://shop.test/2', price: null },
                ],
            });
        });
    });

    it('returns a page without select as Markdown with absolute links', async () => {
        const html = `<html><head><title> A  list </title><meta name="description" content="Things"><style>p{}</style></head>
            <body><script>steal()</script><h1>List</h1><p>Some <b>bold</b> text, <a href="../2?x=1">next</a>.</p>
            <a href="javascript:alert(1)">no</a><noscript>turn it on</noscript><img src="/a.png" alt="A"></body></html>`;
        const data = await dataOf(page(html, 'text/html'));
        expect(data).to.include({ url: 'https://shop.test/list/1', title: 'A list', description: 'Things' });
        expect(data['links']).to.deep.equal([{ href: 'https://shop.test/2?x=1', text: 'next' }]);
        expect(data['markdown'])
            .to.contain('# List')
            .and.to.contain('Some **bold** text, [next](https://shop.test/2?x=1).')
            .and.to.contain('![A](https://shop.test/a.png)');
        expect(data['markdown']).to.not.match(/steal|turn it on|javascript/);
        expect(await dataOf(page('<p>', 'text/html'))).to.deep.equal({
            url: 'https://shop.test/list/1',
            title: null,
            description: null,
            markdown: null,
            links: [],
        });
    });

    describe('against the response schema', () => {
        const schema = {
            type: 'object',
            required: ['items'],
            properties: { items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } } },
        };

        it('accepts valid data', async () => expect(await dataOf(page('[{"id":1}]'), { schema })).to.deep.equal({ items: [{ id: 1 }] }));

        it('names the place that does not fit the schema', async () => {
            const wrong = await refusalOf(page('{"items":[{"id":1},{"id":"2"}]}'), { schema });
            expect(wrong.code).to.equal('UPSTREAM_INVALID_RESPONSE');
            expect(wrong.details[0]).to.include({ path: '/items/1/id', code: 'INVALID_TYPE' });
            const missing = await refusalOf(page('{}'), { schema });
            expect(missing.details[0]).to.include({ code: 'REQUIRED' });
        });

        it('reports a fault in a few words, however long the site’s keys are', async () => {
            const branches = Array.from({ length: 9 }, (_, one) => ({ const: one }));
            const odd = { properties: { o: { additionalProperties: { anyOf: branches } } } };
            const refusal = await refusalOf(page(JSON.stringify({ o: { ['k'.repeat(1_000_000)]: null } })), { schema: odd });
            expect(JSON.stringify(refusal.details).length).to.be.below(10_000);
            expect(refusal.details[0]?.path).to.match(/^\/o\/k+$/);
        });

        it('shows no secret in a key', async () => {
            const odd = { additionalProperties: { type: 'string' } };
            const refusal = await refusalOf(page(JSON.stringify({ ['sk_live_' + 'a1B2'.repeat(8)]: 1 })), { schema: odd });
            expect(refusal.details.map(({ path, code }) => `${path} ${code}`)).to.deep.equal(['/[removed] INVALID_TYPE']);
        });

        it('validates a 204 too', async () =>
            expect(await refusalOf(page('', null, { status: 204 }), { schema })).to.include({ code: 'UPSTREAM_INVALID_RESPONSE' }));
    });

    describe('within bounds', () => {
        it('refuses more than 100 levels of nesting', async () => {
            for (const schema of [undefined, IN_A_THREAD]) {
                expect(await refusalOf(page('['.repeat(101) + ']'.repeat(101)), { schema })).to.include({ code: 'UPSTREAM_TOO_LARGE' });
                expect((await read(page('['.repeat(100) + ']'.repeat(100)), { schema })).ok).to.equal(true);
            }
        });

        it('ends a select or schema that takes too long, and reads the next page at once', async () => {
            const list = JSON.stringify(Array.from({ length: 40_000 }, (_item, id) => ({ id })));
            const slow = read(page(list), { schema: { type: 'object', properties: { items: { uniqueItems: true } } } });
            expect(await slow).to.deep.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
            expect(await dataOf(page('[1]'), { select: 'length(@)' })).to.deep.equal({ value: 1 });
        });

        it('ends slow rules of a package after their time, and gives a large page without rules as long as this machine needs', async () => {
            const hasty = createReader({ threads: 1, taskMs: 1 });
            try {
                const list = () => page(JSON.stringify(Array.from({ length: 100_000 }, (_item, id) => ({ id }))));
                const plain = await hasty.read(list(), { response: NOTHING }, ALL);
                expect(plain).to.include({ ok: true, results: 100_000 });
                const schema = { properties: { items: { uniqueItems: true } } };
                const checked = await hasty.read(list(), { response: { ...NOTHING, schema } }, ALL);
                expect(checked).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
            } finally {
                await hasty.close();
            }
        });

        it('ends a select that uses too much memory, without an effect on this process', async () => {
            const select =
                Array.from({ length: 60 }, () => '[@,@]').join('|') + '|[][][][][][][][][][][][][][][][][][][][][][][][][][][][][]';
            expect(await read(page('{"a":1}'), { select })).to.deep.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
            expect(await dataOf(page('[1]'), { select: 'length(@)' })).to.deep.equal({ value: 1 });
        });

        it('refuses more than 10 MiB of output', async () => {
            const select = { a: '@', b: '@', c: '@', d: '@', e: '@', f: '@' };
            expect(await read(page(JSON.stringify('x'.repeat(2 * 1024 * 1024))), { select })).to.deep.include({
                ok: false,
                code: 'UPSTREAM_INVALID_RESPONSE',
            });
        });

        it('counts them before anything is cut off, with or without a selection', async () => {
            const items = Array.from({ length: 11 }, () => 'x'.repeat(1024 * 1024));
            const list = { body: JSON.stringify({ items }), select: undefined };
            const joined = {
                body: JSON.stringify({ items: items.slice(0, 2) }),
                select: { items: '[items,items,items,items,items,items][]' },
            };
            for (const { body, select } of [list, joined]) {
                const reading = await read(page(body), { select }, { results: 'items', maxResults: 1 });
                expect(reading).to.deep.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
            }
        });
    });
});
