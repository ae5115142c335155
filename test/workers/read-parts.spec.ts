import { expect } from 'chai';
import type { Endpoint } from '../../shared/domain/types.ts';
import { createReader, type Reader } from '../../workers/select/reader.ts';
import type { Page } from '../../workers/upstream.ts';

const NOTHING: Endpoint['response'] = { type: undefined, select: undefined, schema: undefined };

function page(body: string, contentType = 'application/json'): Page {
    const url = 'https://shop.test/list/1';
    return { status: 200, headers: { 'content-type': contentType }, body: Buffer.from(body), url, method: 'GET' };
}

/** An expression that doubles its input repeatedly. */
const DOUBLING = Array.from({ length: 26 }, () => '[@,@][]').join(' | ');

describe('reading one page of several', () => {
    let reader: Reader;
    before(() => {
        reader = createReader({ threads: 1 });
    });
    after(() => reader.close());

    function readForm(from: Page, selector: string) {
        return reader.prepare(from, { path: '/prepare/0', form: { path: '/prepare/form', selector, method: 'GET' }, extract: {} });
    }

    async function nextIn(from: Page, next: string | undefined, response: Partial<Endpoint['response']> = {}) {
        const part = await reader.readPart(from, { response: { ...NOTHING, ...response } }, { results: 'items', next });
        if (!part.ok) throw new Error(part.message);
        return part.next;
    }

    it('finds the next cursor in JSON before anything is selected, inline and in a thread alike', async () => {
        const body = '{"items":[1],"paging":{"next":"abc","none":null}}';
        for (const select of ['items', 'items | sort(@)']) {
            expect(await nextIn(page(body), 'paging.next', { select })).to.deep.equal({ value: 'abc' });
            expect(await nextIn(page(body), "paging.next | join('-', [@, 'x'])", { select })).to.deep.equal({ value: 'abc-x' });
            expect(await nextIn(page(body), 'paging.other', { select })).to.deep.equal({ value: null });
            expect(await nextIn(page(body), undefined, { select })).to.equal(undefined);
        }
        expect(await nextIn(page('plain', 'text/plain'), 'paging.next')).to.equal(undefined);
    });

    it('finds the next page in HTML as a link, a value or a text, also without a selection', async () => {
        const body = `<head><base href="/shop/"><meta name="after" content="m1"></head><body><li class="book">1</li>
            <a class="next" href="two?p=2#x">More</a><input id="after" value="i1"><b hidden> t1 </b><a id="void" href="javascript:go()">x</a></body>`;
        const html = page(body, 'text/html');
        for (const response of [{}, { select: { items: ['.book'] } }]) {
            expect(await nextIn(html, 'a.next', response)).to.deep.equal({ href: 'https://shop.test/shop/two?p=2' });
            expect(await nextIn(html, 'meta[name=after]', response)).to.deep.equal({ value: 'm1' });
            expect(await nextIn(html, '#after', response)).to.deep.equal({ value: 'i1' });
            expect(await nextIn(html, 'b[hidden]', response)).to.deep.equal({ value: 't1' });
            expect(await nextIn(html, 'a#void', response)).to.equal(undefined);
            expect(await nextIn(html, '.nothing', response)).to.equal(undefined);
        }
    });

    it('counts the selected bytes and not the received ones, inline and in a thread alike', async () => {
        const body = JSON.stringify({ rows: [{ text: 'ü'.repeat(500) }] });
        const items = `rows[].{${Array.from({ length: 20 }, (_, index) => `a${index}:text`).join(',')}}`;
        for (const select of [{ items }, { items: `${items} | sort_by(@, &a0)` }]) {
            const response = { ...NOTHING, select };
            const part = await reader.readPart(page(body), { response }, { results: 'items', next: undefined });
            if (!part.ok) throw new Error(part.message);
            expect(part.bytes).to.equal(Buffer.byteLength(part.text));
            expect(part.bytes).to.be.above(20 * 1000);
        }
    });

    it('refuses an invalid expression, and ends an endless one', async () => {
        const refused = async (next: string) => {
            const part = await reader.readPart(page('{"items":[1]}'), { response: NOTHING }, { results: 'items', next });
            return part.ok ? 'it was read' : part.code;
        };
        expect(await refused('abs(items)')).to.equal('UPSTREAM_INVALID_RESPONSE');
        expect(await refused(DOUBLING)).to.equal('UPSTREAM_INVALID_RESPONSE');
    });

    it('counts the results of a page, inline and in a thread alike', async () => {
        for (const more of ['', 'x'.repeat(100_000)]) {
            for (const [body, items] of [
                [{ items: [1, 2], more }, 2],
                [{ items: 7, more }, undefined],
                [[1, 2, more], 3],
            ] as const) {
                const part = await reader.readPart(
                    page(JSON.stringify(body)),
                    { response: NOTHING },
                    { results: 'items', next: undefined },
                );
                expect(part).to.deep.include({ ok: true, items });
            }
        }
    });

    it('joins pages into the shape of the first one, validated before it is cut, inline and in a thread alike, up to 10 MiB', async () => {
        const response = { ...NOTHING, schema: { properties: { items: { minItems: 3 } } } };
        const wanted = { results: 'items', maxResults: 2 };
        const texts = ['{"page":1,"items":[1,2]}', '{"page":2,"items":[]}', '{"page":3,"items":[3]}'];
        for (const bytes of [100, 100_000]) {
            expect(await reader.join(texts, { response }, wanted, bytes)).to.deep.equal({
                ok: true,
                text: '{"page":1,"items":[1,2]}',
                results: 2,
                isListed: true,
                truncated: true,
            });
            const refused = await reader.join(texts.slice(0, 2), { response }, wanted, bytes);
            expect(!refused.ok && [refused.code, refused.details[0]?.path]).to.deep.equal(['UPSTREAM_INVALID_RESPONSE', '/items']);
        }
        const tooLong = await reader.join(texts, { response: NOTHING }, wanted, 11 * 1024 * 1024);
        expect(tooLong).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
    });

    it('reads the form of any page, or stops at its limit', async () => {
        const deep = `${'<div>'.repeat(100_000)}<form id="f"></form>`;
        const form = await readForm(page(deep, 'text/html'), 'div div div div div div #f');
        expect(form.ok || form.code).to.be.oneOf([true, 'UPSTREAM_INVALID_RESPONSE']);
        const extract = { it: { selector: ':has(div div div div)', type: 'number' } };
        const extracted = await reader.prepare(page(deep, 'text/html'), { path: '/prepare/0', extract });
        expect(extracted.ok || extracted.code).to.be.oneOf([true, 'UPSTREAM_INVALID_RESPONSE']);
        const doubled = await reader.prepare(page(JSON.stringify(['x'.repeat(1000)])), { path: '/prepare/0', extract: { it: DOUBLING } });
        expect(doubled).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
        const empty = await readForm(page('', 'text/html'), 'form');
        expect(empty).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
    });

    it('resolves the action of a form like a browser', async () => {
        const actionOf = async (html: string) => {
            const reading = await readForm(page(html, 'text/html'), 'form');
            return reading.ok ? reading.form?.action : reading.code;
        };
        expect(await actionOf('<form action="go?a=1#b">')).to.equal('https://shop.test/list/go?a=1');
        expect(await actionOf('<form action="  ">')).to.equal('https://shop.test/list/1');
        expect(await actionOf('<base href="/there/"><form action="go">')).to.equal('https://shop.test/there/go');
        expect(await actionOf('<base href="/there/"><form>')).to.equal('https://shop.test/list/1');
        expect(await actionOf('<form action="//evil.test/x" method=GeT>')).to.equal('https://evil.test/x');
        expect(await actionOf('<form action="http://[">')).to.equal('UPSTREAM_INVALID_RESPONSE');
    });
});
