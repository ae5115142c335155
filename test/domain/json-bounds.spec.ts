import { expect } from 'chai';
import fc from 'fast-check';
import { BODY_BOUNDS, jsonProblem, jsonProblems, PARAM_BOUNDS } from '../../shared/domain/json/json-bounds.ts';
import { isJsonTooDeep } from '../../shared/domain/json/tokens.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';

function nested(levels: number): unknown {
    let value: unknown = 1;
    for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
    return value;
}

describe('the limits of JSON values', () => {
    it('allow 32 levels and not 33', () => {
        expect(jsonProblem(nested(32))).to.equal(undefined);
        expect(jsonProblem(nested(33))).to.include({ code: 'TOO_COMPLEX' });
    });

    it('are checked without recursion, however deep a value is', () => {
        expect(jsonProblem(nested(500_000))).to.include({ code: 'TOO_COMPLEX' });
    });

    it('count keys over the complete value', () => {
        const object = (keys: number): object => Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i]));
        expect(jsonProblem(object(1000))).to.equal(undefined);
        expect(jsonProblem(object(1001))).to.include({ path: '', code: 'TOO_COMPLEX' });
        expect(jsonProblem({ a: object(500), b: [object(498)] })).to.equal(undefined);
        expect(jsonProblem({ a: object(500), b: [object(499)] })).to.include({ path: '/b/0', code: 'TOO_COMPLEX' });
    });

    it('count items over the complete value if they are limited', () => {
        const bounds = { ...PARAM_BOUNDS, maxItems: 10 };
        const list = (items: number) => Array.from({ length: items }, () => 1);
        expect(jsonProblem(list(10), bounds)).to.equal(undefined);
        expect(jsonProblem(list(11), bounds)).to.include({ path: '', code: 'TOO_COMPLEX' });
        expect(jsonProblem({ a: list(5), b: { c: list(6) } }, bounds)).to.include({ path: '/b/c', code: 'TOO_COMPLEX' });
        expect(jsonProblem(list(100_000))).to.equal(undefined);
    });

    it('count text in bytes of UTF-8', () => {
        expect(jsonProblem('x'.repeat(65_536))).to.equal(undefined);
        expect(jsonProblem('x'.repeat(65_537))).to.include({ code: 'TOO_COMPLEX' });
        expect(jsonProblem('é'.repeat(32_768))).to.equal(undefined);
        expect(jsonProblem('é'.repeat(32_769))).to.include({ code: 'TOO_COMPLEX' });
        expect(jsonProblem({ ['x'.repeat(65_537)]: 1 })).to.include({ path: '' });
    });

    it('name each place by its JSON pointer, in document order', () => {
        const value = { a: ['fine', 'nul\u0000'], 'b/c~d': { e: '\ud800' }, f: Number.POSITIVE_INFINITY };
        expect(jsonProblems(value, PARAM_BOUNDS, '/params').map(({ path, code }) => [path, code])).to.deep.equal([
            ['/params/a/1', 'INVALID_VALUE'],
            ['/params/b~1c~0d/e', 'INVALID_VALUE'],
            ['/params/f', 'INVALID_VALUE'],
        ]);
    });

    it('report at most 20 places', () => {
        expect(jsonProblems(Array.from({ length: 100 }, () => '\u0000'))).to.have.length(20);
    });

    it('refuse keys that break the text rule or would reach a prototype', () => {
        expect(jsonProblem(JSON.parse('{"a":{"__proto__":1}}'))).to.include({ path: '/a' });
        expect(jsonProblem({ 'a\u0000': 1 })).to.include({ path: '' });
        expect(jsonProblem({ constructor: 'Ferrari' })).to.equal(undefined);
    });

    it('allow large params in a body, and the newlines of a task', () => {
        expect(jsonProblem({ site: 'shop.example', params: nested(32), task: 'a\nb' }, BODY_BOUNDS)).to.equal(undefined);
        const line = { ...BODY_BOUNDS, texts: 'line' as const };
        expect(jsonProblem({ site: 'a\nb' }, line)).to.include({ path: '/site' });
    });

    it('allow any character but NUL in params, and in nothing else of the body', () => {
        const bounds = { ...BODY_BOUNDS, texts: 'line' as const, dataAt: 'params' };
        const every = String.fromCodePoint(...Array.from({ length: 0xa0 }, (_, code) => code + 1));
        const value = { params: { q: every, [every]: [{ [every]: every }] } };
        expect(jsonProblems(value, bounds)).to.deep.equal([]);
        expect(jsonProblem(value.params)).to.equal(undefined);
        expect(jsonProblems({ ...value, site: 'a\nb', other: { params: 'a\tb' } }, bounds).map(({ path }) => path)).to.deep.equal([
            '/site',
            '/other/params',
        ]);
        expect(jsonProblem({ params: { q: 'a\u0000' } }, bounds)).to.include({
            path: '/params/q',
            message: 'The value has a NUL character (U+0000 at position 1).',
        });
    });
});

describe('the depth of a JSON text', () => {
    it('is computed without parsing', () => {
        expect(isJsonTooDeep('['.repeat(100) + ']'.repeat(100))).to.equal(false);
        expect(isJsonTooDeep('['.repeat(101) + ']'.repeat(101))).to.equal(true);
        expect(isJsonTooDeep(Buffer.from('{"a":'.repeat(101)))).to.equal(true);
        expect(isJsonTooDeep('[]'.repeat(1000))).to.equal(false);
        expect(isJsonTooDeep('[[1],[2,{"a":{}}]]', 2)).to.equal(true);
        expect(isJsonTooDeep('[[1],[2,{"a":{}}]]', 4)).to.equal(false);
    });

    it('ignores brackets inside strings', () => {
        expect(isJsonTooDeep(JSON.stringify(['[[[[', '{{{{', '"[[[[', '\\', '\\"[[[[', '\\\\']), 1)).to.equal(false);
        expect(isJsonTooDeep(Buffer.from(JSON.stringify({ 'é[[[': '漢[[[\\' })), 1)).to.equal(false);
        expect(isJsonTooDeep('"never closed [[[[', 1)).to.equal(false);
    });

    it('equals that of the parsed value', () => {
        const depth = (value: unknown): number =>
            typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
        fc.assert(
            fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 7 }), (value, max) => {
                const text = JSON.stringify(value);
                expect(isJsonTooDeep(text, max)).to.equal(depth(value) > max);
                expect(isJsonTooDeep(new TextEncoder().encode(text), max)).to.equal(depth(value) > max);
            }),
            { numRuns: 500, seed: 7 },
        );
    });

    it('needs one pass, whatever the text is', () => {
        for (const text of ['\\'.repeat(1_000_000), `"${'\\"'.repeat(500_000)}`, '"'.repeat(1_000_001), `"${'\\'.repeat(999_999)}"`])
            expect(cpuMsOf(() => isJsonTooDeep(text))).to.be.below(roomFor(500));
    });
});
