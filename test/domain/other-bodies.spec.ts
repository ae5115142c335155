import { expect } from 'chai';
import { load } from 'cheerio';
import fc from 'fast-check';
import { bindParams } from '../../shared/domain/fetch/bind-params.ts';
import { buildRequest } from '../../shared/domain/fetch/build-request.ts';
import type { BodyFormat, Json, JsonObject, PackageParam, UpstreamRequest } from '../../shared/domain/types.ts';
import { anEndpoint, bodyParam } from './an-endpoint.ts';

const userAgent = 'a test';
const runs = { numRuns: 300, seed: 11 };
/** A call may contain everything but NUL. */
const text = fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replaceAll('\u0000', '').toWellFormed());
const hostile = fc.constantFrom('"', "'", '<', '>', '&', ']]>', '-->', '\r\n', '\n', '\t', '{b}', '%22', '\u2028', '--', '; name="x"');
const odd = fc.oneof(
    text,
    fc.array(hostile, { maxLength: 5 }).map((parts) => parts.join('')),
);

function built(format: BodyFormat, params: PackageParam[], values: JsonObject, body?: Json): UpstreamRequest {
    const endpoint = anEndpoint({ method: 'POST', params, body_format: format, ...(body === undefined ? {} : { body }) });
    const bound = bindParams(endpoint, values, () => ({ ok: true }));
    fc.pre(bound.ok);
    return buildRequest(endpoint, bound.ok ? bound.values : {}, userAgent);
}

describe('a body that is not JSON', () => {
    it('has in XML the exact texts, in elements and in attributes', () => {
        const property = fc.property(odd, odd, (a, b) => {
            const template = '<r><a x="{b}">{a}</a><b>before {b} after</b></r>';
            const { body } = built('xml', [bodyParam('a'), bodyParam('b')], { a, b }, template);
            const $ = load(String(body), { xml: true });
            expect($('r').children()).to.have.length(2);
            expect([$('a').text(), $('a').attr('x'), $('b').text()]).to.deep.equal([a, b, `before ${b} after`]);
        });
        fc.assert(property, runs);
    });

    it('has in NDJSON the exact values, each on its line', () => {
        const property = fc.property(fc.jsonValue({ maxDepth: 3 }), odd, (a, b) => {
            fc.pre(!JSON.stringify(a).includes('\\u0000'));
            const { body } = built('ndjson', [bodyParam('a'), bodyParam('b')], { a: a as Json, b }, '{"a":{a}}\n[{b},{a},1]\n');
            const lines = String(body).split(/[\n\u0085\u2028\u2029]/);
            expect(lines.map((line) => (line === '' ? '' : JSON.parse(line)))).to.deep.equal([
                JSON.parse(JSON.stringify({ a })),
                JSON.parse(JSON.stringify([b, a, 1])),
                '',
            ]);
        });
        fc.assert(property, runs);
    });

    it('has in a text the values unchanged, without reading placeholders in them', () => {
        const params = [bodyParam('a'), bodyParam('b')];
        expect(built('text', params, { a: '{b} $& $1', b: 2 }, '{a}|{b}|{c}|{ a }|{}').body).to.equal('{b} $& $1|2|{c}|{ a }|{}');
        expect(built('text', params, {}, '[{a}]').body).to.equal('[]');
    });

    it('has as multipart the exact fields and files, whatever they contain', async () => {
        const name = fc.stringMatching(/^[!-z|~]{1,20}$/).filter((one) => !/[%"]/.test(one) && one !== '__proto__');
        const ascii = fc.stringMatching(/^[!-~]( ?[!-~]){0,20}$/).filter((one) => !/[%"]/.test(one));
        const bytes = fc.oneof(
            fc.uint8Array({ maxLength: 60 }),
            odd.map((value) => Buffer.from(value)),
        );
        const file = fc.record({ filename: ascii, content_type: fc.constantFrom('image/png', 'text/plain'), bytes });
        const property = fc.asyncProperty(fc.dictionary(name, fc.oneof(odd, file), { minKeys: 1, maxKeys: 5 }), async (fields) => {
            const entries = Object.entries(fields);
            const params = entries.map(([key, value]) => bodyParam(key, typeof value === 'string' ? {} : { schema: { format: 'file' } }));
            const values = entries.map(([key, value]): [string, Json] => {
                if (typeof value === 'string') return [key, value];
                const { bytes: content, ...rest } = value;
                return [key, { ...rest, base64: Buffer.from(content).toString('base64') }];
            });
            const { body, headers } = built('multipart', params, Object.fromEntries(values));
            const parsed = await new Response(Buffer.from(body as Uint8Array), {
                headers: { 'content-type': headers['content-type'] ?? '' },
            }).formData();
            const read = await Promise.all([...parsed].map(async ([key, value]) => [key, await readField(value)]));
            expect(read).to.deep.equal(entries.map(([key, value]) => [key, typeof value === 'string' ? value : fieldOf(value)]));
        });
        await fc.assert(property, runs);
    });

    it('is the same for the same call, and another one otherwise', () => {
        const of = (value: string) => built('multipart', [bodyParam('a')], { a: value });
        expect(of('x')).to.deep.equal(of('x'));
        expect(of('x').headers['content-type']).not.to.equal(of('y').headers['content-type']);
        expect(String(of('x').body)).to.match(/^--routebook-[0-9a-f]{40}\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--/);
    });
});

const fieldOf = ({ filename, content_type: type, bytes }: { filename: string; content_type: string; bytes: Uint8Array }) => ({
    filename,
    type,
    hex: Buffer.from(bytes).toString('hex'),
});

async function readField(value: string | File): Promise<unknown> {
    if (typeof value === 'string') return value;
    return { filename: value.name, type: value.type, hex: Buffer.from(await value.arrayBuffer()).toString('hex') };
}
