import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { createBudget } from '../../shared/domain/package/rules/budget.ts';
import { LIMITS_IN_WORDS } from '../../shared/domain/package/rules/limits.ts';
import { fitsSchema } from '../../shared/domain/package/rules/values.ts';
import { DETAIL_CODES } from '../../shared/refusals.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';
import { check, DROP, editedPackage, faultsOf, goodPackage } from './good-package.ts';

describe('publishing rules', () => {
    it('keep a valid package unchanged', () => {
        const verdict = check(goodPackage());
        expect(verdict).to.deep.equal({ ok: true, document: goodPackage(), warnings: [] });
        if (verdict.ok) expect(Object.keys(verdict.document)).to.deep.equal(Object.keys(goodPackage()));
    });

    it('do not modify their input', () => {
        const given = editedPackage({ '/site': 'WWW.Shop.Example.COM.' });
        check(given);
        expect(given['site']).to.equal('WWW.Shop.Example.COM.');
    });

    it('use the canonical spelling of the site', () => {
        const verdict = check(editedPackage({ '/site': ' WWW.Shop.Example.COM. ' }));
        expect(verdict.ok && verdict.document.site).to.equal('shop.example.com');
    });

    it('turn CR LF in descriptions into LF and leave other texts alone', () => {
        const verdict = check(
            editedPackage({
                '/description': 'a\r\nb',
                '/endpoints/0/description': 'c\r\nd',
                '/endpoints/0/params/1/description': 'e\r\nf',
                '/endpoints/1/body/query': 'g\r\nh',
            }),
        );
        const expected = editedPackage({
            '/description': 'a\nb',
            '/endpoints/0/description': 'c\nd',
            '/endpoints/0/params/1/description': 'e\nf',
            '/endpoints/1/body/query': 'g\r\nh',
        });
        expect(verdict.ok && verdict.document).to.deep.equal(expected);
    });

    it('suggest categories similar to an unknown one', () => {
        const messageFor = (category: string) => {
            const result = check(editedPackage({ '/intent_category': category }));
            return result.ok ? undefined : result.problems[0]?.message;
        };
        expect(messageFor('pricing')).to.include('There is no category "pricing". Did you mean commerce/pricing?');
        expect(messageFor('commerce/reviewes')).to.include('Did you mean commerce/reviews');
        expect(messageFor('developer/repos')).to.include('Did you mean developer/repositories?');
        expect(messageFor('developers/packages')).to.include('Did you mean developer/packages');
        expect(messageFor('weather/tides')).to.include('Did you mean weather/current or weather/forecast or');
        expect(messageFor('zzz')).to.not.include('Did you mean');
    });

    it('accept every package of the starter registry', () => {
        const folder = new URL('../../schemas/', import.meta.url);
        const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
        expect(files).not.to.have.length(0);
        for (const file of files) {
            const document: unknown = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
            const verdict = check(document);
            expect(faultsOf(verdict), file).to.deep.equal([]);
            expect(verdict.ok && verdict.document, file).to.deep.equal(document);
        }
    });

    it('treat null like an absent field, if the format says so', () => {
        expect(
            faultsOf(check(editedPackage({ '/endpoints/0/pagination': null, '/endpoints/0/prepare': null, '/endpoints/0/body': null }))),
        ).to.deep.equal([]);
    });

    it('accept plain http and other ports only if EGRESS_ALLOW covers the port', () => {
        const port = (url: string, open: number[]) =>
            faultsOf(check(editedPackage({ '/endpoints/3/url': url }), { isPortAllowed: (number) => open.includes(number) }));
        expect(port('http://shop.example.com:3000/reviews', [3000])).to.deep.equal([]);
        expect(port('https://shop.example.com:8443/reviews', [8443])).to.deep.equal([]);
        expect(port('http://shop.example.com/reviews', [80])).to.deep.equal([]);
        expect(port('http://shop.example.com/reviews', [443])).to.deep.equal(['/endpoints/3/url INVALID_VALUE']);
        expect(port('http://shop.example.com:3001/reviews', [3000])).to.deep.equal(['/endpoints/3/url INVALID_VALUE']);
    });

    it('separate tenants of one suffix', () => {
        const at = (site: string, url: string) =>
            faultsOf(check({ ...editedPackage({}), site, endpoints: [{ name: 'a', method: 'GET', url }] }));
        expect(at('a.github.io', 'https://a.github.io/')).to.deep.equal([]);
        expect(at('a.github.io', 'https://b.github.io/')).to.deep.equal(['/endpoints/0/url HOST_NOT_IN_SITE']);
        expect(at('shop.example.co.uk', 'https://api.example.co.uk/')).to.deep.equal([]);
    });

    it('write a URL in its canonical form for the author, with its placeholders', () => {
        const verdict = check(editedPackage({ '/endpoints/0/url': 'https://API.shop.example.com/ü/{section}/my items?x={section}' }));
        const [problem] = verdict.ok ? [] : verdict.problems;
        expect(problem?.message).to.include('"https://api.shop.example.com/%C3%BC/{section}/my%20items?x={section}"');
    });

    it('say what an example or a default has to be', () => {
        const messageFor = (edits: Record<string, unknown>) => {
            const verdict = check(editedPackage(edits));
            return verdict.ok ? undefined : verdict.problems.map(({ path, message }) => `${path} ${message}`).join();
        };
        expect(messageFor({ '/endpoints/0/params/2/example': ['L'] })).to.match(
            /^\/endpoints\/0\/params\/2\/example .*must be an integer\.$/,
        );
        expect(messageFor({ '/endpoints/1/params/1/default': 0 })).to.match(/^\/endpoints\/1\/params\/1\/default .*must be at least 1\.$/);
    });

    it('name every problem at once', () => {
        const verdict = check(
            editedPackage({
                '/title': DROP,
                '/cookies': {},
                '/endpoints/0/url': 'https://evil.test/{section}',
                '/endpoints/0/params/1/schema': { type: 'text' },
                '/endpoints/1/headers/cookie': 'a=b',
                '/endpoints/2/name': 'order',
            }),
        );
        expect(faultsOf(verdict)).to.have.members([
            '/title REQUIRED',
            '/cookies FORBIDDEN_FIELD',
            '/endpoints/0/url HOST_NOT_IN_SITE',
            '/endpoints/0/params/1/schema/type INVALID_VALUE',
            '/endpoints/1/headers/cookie FORBIDDEN_FIELD',
            '/endpoints/2/name DUPLICATE_NAME',
        ]);
    });

    it('never repeat a secret that they found, in a value, a key or a pointer', () => {
        const secret = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
        const verdict = check(
            editedPackage({
                '/description': secret,
                [`/${secret}`]: 1,
                [`/endpoints/0/examples/0/params/${secret}`]: 1,
                '/endpoints/0/params/1/schema': { properties: { [secret]: { type: 'text' } } },
                '/intent_category': secret,
            }),
        );
        expect(faultsOf(verdict)).to.include('/description SECRET_DETECTED');
        expect(JSON.stringify(verdict)).not.to.include('a1B2c3D4e5');
    });

    it('warn of a package that can never be verified', () => {
        const warned = (edits: Record<string, unknown>) => {
            const verdict = check(editedPackage(edits));
            expect(faultsOf(verdict)).to.deep.equal([]);
            return verdict.ok ? verdict.warnings.map(({ code, path }) => `${code} ${path}`) : [];
        };
        expect(warned({})).to.deep.equal([]);
        expect(warned({ '/endpoints/0/examples': DROP })).to.deep.equal(['NO_EXAMPLES /endpoints']);
        expect(warned({ '/endpoints/0/examples': [] })).to.deep.equal(['NO_EXAMPLES /endpoints']);
        expect(warned({ '/endpoints/0/hosted': false })).to.deep.equal(['NO_EXAMPLES /endpoints']);
        expect(warned({ '/endpoints/0/examples': [], '/endpoints/1/examples': [{ params: { sku: 'a' } }] })).to.deep.equal([
            'NO_EXAMPLES /endpoints',
        ]);
    });

    it('accept a select without a declared type if it is one for JSON or one for HTML', () => {
        const select = (value: unknown) => faultsOf(check(editedPackage({ '/endpoints/2/response': { select: value } })));
        expect(select({ a: 'b[].c' })).to.deep.equal([]);
        expect(select({ a: 'div > p:first' })).to.deep.equal([]);
        expect(select({ a: ['li'] })).to.deep.equal([]);
        expect(select('a.b')).to.deep.equal([]);
        expect(select({ a: 'b[[' })).to.deep.equal(['/endpoints/2/response/select/a INVALID_VALUE']);
    });

    it('accept descriptions that only mention placeholders', () => {
        for (const text of [
            '',
            'Todo lists of a user.',
            'Lists what is to be described.',
            'HTML such as <b>.',
            'The description of the item.',
        ])
            expect(check(editedPackage({ '/endpoints/0/description': text })).ok, text).to.equal(true);
    });

    it('accept unusual param names', () => {
        for (const name of ['filter[size]', 'a.b', '$top', 'q:text', 'toString', 'hasOwnProperty']) {
            const edits = { '/endpoints/3/params': [{ name, source: 'query', required: false }] };
            expect(faultsOf(check(editedPackage(edits))), name).to.deep.equal([]);
        }
    });

    it('leave the first page to callers and defaults, and start cursors and links without a value', () => {
        const problemsOf = (param: object, pagination: object) =>
            faultsOf(
                check(
                    editedPackage({
                        '/endpoints/0/params/-': { name: 'page', source: 'query', required: false, ...param },
                        '/endpoints/0/pagination': { param: 'page', ...pagination },
                    }),
                ),
            );
        const text = { schema: { type: 'string' } };
        expect(problemsOf({ ...text, default: '1' }, {}), 'a default').to.deep.equal([]);
        expect(problemsOf({ schema: { type: 'integer', minimum: 5 } }, { start: 5 }), 'a start that fits').to.deep.equal([]);
        expect(problemsOf({}, {}), 'no schema').to.deep.equal([]);
        expect(problemsOf(text, { style: 'cursor', next: 'paging.next' }), 'a cursor').to.deep.equal([]);
        expect(problemsOf(text, { style: 'link' }), 'links').to.deep.equal([]);
        expect(
            problemsOf({ ...text, required: true }, {}).filter((fault) => fault.includes('/pagination')),
            'a caller',
        ).to.deep.equal([]);
    });

    it('accept a package up to the documented limits, and nothing beyond them', () => {
        const header = (length: number) => ({ [`x${'a'.repeat(length - 1)}`]: 'b' });
        const rows: [words: string, pointer: string, of: (count: number) => unknown, max: number][] = [
            ['title has at most 200', '/title', (count) => 'a'.repeat(count), 200],
            ['a description 10,000', '/description', (count) => 'a'.repeat(count), 10_000],
            ['at most 20 examples', '/endpoints/3/examples', (count) => Array.from({ length: count }, () => ({ params: {} })), 20],
            [
                '50 headers',
                '/endpoints/3/headers',
                (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'a'])),
                50,
            ],
            ['names of 100 characters', '/endpoints/3/headers', header, 100],
            [
                'at most 200 outputs',
                '/endpoints/2/response/select',
                (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`o${i}`, 'a'])),
                200,
            ],
            ['maps nest 8 levels', '/endpoints/2/response/select', nestedMaps, 8],
            [
                '1,000 values in an enum',
                '/endpoints/0/params/1/schema',
                (count) => ({ enum: ['red', ...Array.from({ length: count - 1 }, (_, i) => i)] }),
                1000,
            ],
            ['1,000 characters in a pattern', '/endpoints/0/params/1/schema', (count) => ({ pattern: `r${'|'.repeat(count - 1)}` }), 1000],
        ];
        for (const [words, pointer, of, max] of rows) {
            expect(LIMITS_IN_WORDS).to.include(words);
            expect(faultsOf(check(editedPackage({ [pointer]: of(max) }))), words).to.deep.equal([]);
            expect(faultsOf(check(editedPackage({ [pointer]: of(max + 1) }))), words).to.have.length(1);
        }
    });

    it('accept XML, text and NDJSON with placeholders if their format can escape them', () => {
        const templates: [string, string, string?][] = [
            ['xml', '<?xml version="1.0"?>\n<!-- an order --><o id=\'{sku}\' n="a>b {count}"><![CDATA[ <x> ]]>{sku} > {count}</o>'],
            ['xml', '<o>{sku}{count}</o>', 'application/soap+xml; charset=utf-8'],
            ['text', 'order {sku} x {count}: { free } {}', 'text/csv'],
            ['text', '{sku},{count}', 'application/x-yaml'],
            ['ndjson', '{"o":{sku}}\r\n\n[{count},{sku}]\n', 'application/x-ndjson'],
            ['ndjson', '{sku}\n{count}', 'application/json'],
        ];
        for (const [format, body, type] of templates) {
            const headers = type === undefined ? {} : { 'content-type': type };
            const edits = { '/endpoints/1/body_format': format, '/endpoints/1/body': body, '/endpoints/1/headers': headers };
            expect(faultsOf(check(editedPackage(edits))), body).to.deep.equal([]);
        }
    });

    it('take linear time in the template of a body, whatever is open in it', () => {
        for (const piece of ['<', '<!--', '<![CDATA[', '<a b="', "<a b='", '<?', '{a', '"'])
            for (const format of ['xml', 'text', 'ndjson']) {
                const body = `{sku}{count}${piece.repeat(60_000 / piece.length)}`;
                const document = editedPackage({ '/endpoints/1/body_format': format, '/endpoints/1/body': body });
                expect(
                    cpuMsOf(() => check(document)),
                    `${format} ${piece}`,
                ).to.be.below(roomFor(500));
            }
    });

    it('count results at any key that JSON can have', () => {
        for (const results of ['@graph', 'data.2024', 'é', 'hydra:member', '$values', 'a/b', 'two words', 'data.items-list'])
            expect(
                faultsOf(check(editedPackage({ '/endpoints/3/response': {}, '/endpoints/3/billing': { unit: 'result', results } }))),
                results,
            ).to.deep.equal([]);
    });

    it('accept a place of results without a unit, which then defaults to the request', () => {
        for (const billing of [{ results: 'items' }, { max_results: 10 }, {}])
            expect(faultsOf(check(editedPackage({ '/endpoints/3/billing': billing }))), JSON.stringify(billing)).to.deep.equal([]);
    });

    it('validate a default with a schema that only the compiled validator supports', () => {
        const count = (schema: unknown) => faultsOf(check(editedPackage({ '/endpoints/1/params/1/schema': schema })));
        expect(count({ anyOf: [{ type: 'integer' }, { type: 'null' }] })).to.deep.equal([]);
        expect(count({ anyOf: [{ type: 'string' }, { type: 'null' }] })).to.deep.equal(['/endpoints/1/params/1/default INVALID_VALUE']);
    });
});

describe('publishing rules', () => {
    it('refuse a value that does not fit, also if no work is left to say why', () => {
        const place = { source: 'query', bodyFormat: 'json', style: 'repeat', segments: false } as const;
        const slot = { ...place, schema: { type: 'string', pattern: '^(a|b)*c$' }, isSchemaBroken: false };
        const text = 'ab'.repeat(500);
        const whole = createBudget();
        const { left } = whole.work;
        expect(fitsSchema(text, slot, whole)).to.equal(false);
        const explained = left - whole.work.left;
        for (const share of [0.6, 1]) {
            const budget = createBudget();
            budget.work.left = Math.ceil(explained * share);
            expect(fitsSchema(text, slot, budget), `${share} of the work`).to.equal(false);
        }
    });
});

describe('publishing rules under attack', () => {
    const json = fc.jsonValue({ maxDepth: 6 });
    /** Control characters and lone surrogates too. */
    const anyText = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((codes) => String.fromCharCode(...codes));
    const paths = [
        '',
        '/site',
        '/title',
        '/intent_category',
        '/endpoints',
        '/endpoints/0',
        '/endpoints/0/url',
        '/endpoints/0/headers',
        '/endpoints/0/headers/accept',
        '/endpoints/0/params',
        '/endpoints/0/params/0',
        '/endpoints/0/params/0/schema',
        '/endpoints/0/params/1/schema/pattern',
        '/endpoints/0/params/0/default',
        '/endpoints/0/response',
        '/endpoints/0/response/select',
        '/endpoints/0/response/schema',
        '/endpoints/0/billing',
        '/endpoints/0/pagination',
        '/endpoints/0/examples',
        '/endpoints/1/body',
        '/endpoints/2/prepare',
        '/endpoints/2/response/select/notice',
        '/endpoints/3/pagination/next',
    ];

    it('return well-formed problems for any body', () => {
        fc.assert(
            fc.property(json, (value) => isAnswered(check(value))),
            { numRuns: 200 },
        );
    });

    it('return well-formed problems for any value at any place of a package', () => {
        const place = fc.constantFrom(...paths.slice(1));
        const anything = fc.oneof(
            json,
            anyText,
            fc.constantFrom('{', '}', '%', '://', '#', '__proto__', '[', '(', '&', Number.POSITIVE_INFINITY),
        );
        fc.assert(
            fc.property(place, anything, (path, value) => isAnswered(check(editedPackage({ [path]: value })))),
            { numRuns: 500 },
        );
    });

    it('never let a value change the host or the number of path segments of an accepted URL', () => {
        const pieces = fc.array(
            fc.constantFrom('a', '.', '..', '/', '//', '%2e', '%2f', '%', '{x}', '{y}', '?', '&', '=', '\\', '@', ':', ';', ' '),
            { maxLength: 8 },
        );
        const word = fc.oneof(anyText, fc.constantFrom('../..', '%2e%2e', '2e', '/', '\\', '@evil.test', '?#', '.a', 'a.'));
        let accepted = 0;
        fc.assert(
            fc.property(pieces, word, word, (parts, x, y) => {
                if (!x.isWellFormed() || !y.isWellFormed() || [x, y].some((value) => ['', '.', '..'].includes(value))) return;
                const url = `https://shop.example.com/${parts.join('')}`;
                const params = ['x', 'y']
                    .filter((name) => url.includes(`{${name}}`))
                    .map((name) => ({ name, source: 'path', required: true }));
                const verdict = check(editedPackage({ '/endpoints/3/url': url, '/endpoints/3/params': params }));
                if (!verdict.ok) return;
                accepted++;
                const filled = url.replaceAll('{x}', () => encodeURIComponent(x)).replaceAll('{y}', () => encodeURIComponent(y));
                const sent = new URL(filled);
                expect(sent.href).to.equal(new URL(sent.href).href);
                expect(sent.host).to.equal('shop.example.com');
                expect(sent.hash).to.equal('');
                expect(sent.pathname.split('/').length).to.equal(new URL(url).pathname.split('/').length);
            }),
            { numRuns: 500 },
        );
        expect(accepted).to.be.greaterThan(50);
    });

    it('stop at values that are too deep or too large', () => {
        let deep: unknown = 1;
        for (let level = 0; level < 100_000; level++) deep = [deep];
        const loop: Record<string, unknown> = {};
        loop['self'] = loop;
        for (const value of [deep, { ...goodPackage(), x: deep }, loop, { ...goodPackage(), endpoints: new Array(1_000_000).fill({}) }]) {
            const verdict = check(value);
            expect(verdict.ok).to.equal(false);
            expect(faultsOf(verdict).map((fault) => fault.split(' ')[1])).to.include('TOO_COMPLEX');
        }
    });

    it('return a readable result however much is wrong', () => {
        const verdict = check(Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 1])));
        expect(verdict.ok || verdict.problems.length)
            .to.be.greaterThan(100)
            .and.at.most(500);
        expect(JSON.stringify(check({ ['k'.repeat(60_000)]: 1 })).length).to.be.lessThan(3000);
    });

    it('limit the time for compiling a package’s schemas', () => {
        const params = (schema: (index: number) => unknown) => ({
            '/endpoints/3/params': Array.from({ length: 1500 }, (_, i) => ({
                name: `p${i}`,
                source: 'query',
                required: false,
                schema: schema(i),
                default: 'a',
            })),
        });
        const patterns = faultsOf(check(editedPackage(params((i) => ({ pattern: `(?:[a-z]?){700}${i}?` })))));
        expect(patterns).to.include('/endpoints/3/params/200/schema/pattern TOO_COMPLEX');
        // Nothing is compiled for a default, so that each of them is checked.
        const choices = faultsOf(check(editedPackage(params((i) => ({ anyOf: [{ const: i }, { type: 'null' }] })))));
        expect(choices.filter((fault) => fault.includes('/default ')).length).to.be.above(400);
        expect(choices).to.include('/endpoints/3/params/30/schema TOO_COMPLEX');
    });

    it('accept 2,000 schemas over all params of an endpoint, with references expanded, and 200,000 over a package', () => {
        const endpointOf = (name: string, count: number) => ({
            name,
            method: 'GET',
            url: 'https://shop.test/things',
            params: Array.from({ length: count }, (_, i) => ({
                name: `p${i}`,
                source: 'query',
                required: false,
                // 400 schemas: itself, and 21 for each reference.
                schema: {
                    $defs: { one: { anyOf: Array.from({ length: 19 }, (_one, at) => ({ const: at })) } },
                    anyOf: Array.from({ length: 19 }, () => ({ $ref: '#/$defs/one' })),
                },
            })),
        });
        const faults = (endpoints: unknown[]) => faultsOf(check({ ...goodPackage(), site: 'shop.test', endpoints }));
        expect(faults([endpointOf('few', 4)])).to.deep.equal([]);
        expect(faults([endpointOf('many', 6)])).to.deep.equal(['/endpoints/0/params/5/schema TOO_COMPLEX']);
        const all = faults(Array.from({ length: 140 }, (_, i) => endpointOf(`e${i}`, 4)));
        expect(all).to.have.length(1);
        expect(all[0]).to.match(/^\/endpoints\/12\d\/params\/\d\/schema TOO_COMPLEX$/);
    });

    /** Every problem has a known code, a pointer and one sentence. An accepted value is a package. */
    function isAnswered(verdict: ReturnType<typeof check>): void {
        if (verdict.ok) {
            expect(verdict.document.format).to.equal('routebook/1');
            return;
        }
        expect(verdict.problems).not.to.have.length(0);
        for (const problem of verdict.problems) {
            expect(problem).to.have.all.keys('path', 'code', 'message');
            expect(DETAIL_CODES).to.include(problem.code);
            expect(problem.path).to.match(/^(\/.*)?$/su);
            expect(problem.message.length).to.be.lessThan(500);
        }
        expect(JSON.stringify(verdict).isWellFormed()).to.equal(true);
    }
});

/** A `select` for HTML of so many maps, each inside the one before. */
function nestedMaps(levels: number): object {
    return { inner: levels === 1 ? 'a' : { selector: 'a', value: nestedMaps(levels - 1) } };
}
