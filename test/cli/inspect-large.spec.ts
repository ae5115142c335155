import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { CutShort, type Element, streamElements } from '../../cli/inspect/exchanges/json-elements.ts';
import { inspect } from '../../cli/inspect/inspect.ts';
import { harOf, routesOf, SHOP } from './inspect/har.ts';
import { LARGE_ROUTES, largeHar } from './inspect/large-har.ts';

describe('routebook inspect reads files of any size', () => {
    it('reads 20 MB without keeping them in memory', async () => {
        let read = 0;
        let largest = 0;
        global.gc?.();
        const before = process.memoryUsage().rss;
        const found = await inspect(
            { har: Readable.from(largeHar(20_000_000)) },
            {
                onProgress: (count) => {
                    read = count;
                    largest = Math.max(largest, process.memoryUsage().rss);
                },
            },
        );
        expect(routesOf(found)).to.have.members(LARGE_ROUTES);
        expect(read).to.be.greaterThan(0).and.at.most(found.report.read);
        expect(JSON.stringify(found)).not.to.match(/secret\d|owner\d|harbour \\"/);
        expect((largest - before) / 1e6, 'MB more while it read').to.be.below(250);
    });

    it('finds the same entries as a parser, wherever the text is split into chunks', async () => {
        const value = fc.letrec((tie) => ({
            json: fc.oneof(
                { maxDepth: 3 },
                fc.constant(null),
                fc.boolean(),
                fc.integer(),
                fc.string({ unit: 'binary' }),
                fc.constantFrom('\\', '"', '\\"', '[{', '"log":{"entries":[{}]}'),
                fc.array(tie('json')),
                fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('log', 'entries')), tie('json')),
            ),
        })).json;
        const entries = fc.array(fc.dictionary(fc.string(), value), { maxLength: 5 });
        const other = fc.dictionary(
            fc.string().filter((key) => key !== 'entries' && key !== '__proto__'),
            value,
            { maxKeys: 3 },
        );
        await fc.assert(
            fc.asyncProperty(
                entries,
                other,
                other,
                fc.boolean(),
                fc.integer({ min: 1, max: 40 }),
                async (elements, before, beside, isPretty, size) => {
                    const text = JSON.stringify({ ...before, log: { ...beside, entries: elements } }, null, isPretty ? 2 : 0);
                    // A duplicate key is read twice here, and once by the parser.
                    fc.pre(!Object.hasOwn(before, 'log'));
                    expect(await elementsOf(text, size)).to.deep.equal(
                        elements.map((element) => ({ ok: true, value: JSON.parse(JSON.stringify(element)) as unknown })),
                    );
                },
            ),
            { numRuns: 400 },
        );
    });

    it('skips an entry that is too large, and continues after it', async () => {
        const text = JSON.stringify({ log: { entries: [{ a: 1 }, { b: 'x'.repeat(5000) }, { c: 3 }] } });
        const found = await elementsOf(text, 100, 1000);
        expect(found.map((element) => (element.ok ? element.value : element.fault))).to.deep.equal([{ a: 1 }, 'too large', { c: 3 }]);
    });

    it('reads a truncated file up to its end, and says so', async () => {
        const whole = harOf([
            { url: `${SHOP}/boats/1`, json: { id: 1 } },
            { url: `${SHOP}/harbours`, json: [] },
        ]);
        const found = await inspect({ har: Readable.from([Buffer.from(whole.slice(0, whole.lastIndexOf('"request"')))]) });
        expect(routesOf(found)).to.deep.equal(['GET /boats/{boat_id}']);
        expect(found.report.dropped.map(({ what }) => what)).to.include('The end of the recording');
        for (const text of ['', '{"log":{"entries":[{"a":1}', 'no json at all']) {
            const fault = await elementsOf(text, 10).then(
                () => undefined,
                (error: unknown) => error,
            );
            expect(fault).to.be.instanceOf(CutShort);
        }
    });

    it('makes an empty draft from a recording without routes, and says what is left to do', async () => {
        const found = await inspect({ har: Readable.from([Buffer.from(harOf([]))]) });
        expect(found.package.endpoints).to.deep.equal([]);
        expect(found.report.leftToDo.map(({ path }) => path)).to.include.members(['/endpoints']);
    });

    it('skips invalid entries, whatever they contain', async () => {
        await fc.assert(
            fc.asyncProperty(fc.array(fc.jsonValue(), { maxLength: 6 }), async (odd) => {
                async function* recording() {
                    yield* odd;
                    yield {
                        request: { method: 'GET', url: `${SHOP}/boats/1` },
                        response: { status: 200, content: { mimeType: 'application/json', text: '{"id":1}' } },
                    };
                    yield { request: { method: 'GET', url: 'not a url', headers: 5, postData: [] }, response: null };
                    yield { request: { method: 5, url: `${SHOP}/` } };
                }
                const found = await inspect({ recording: recording() });
                expect(routesOf(found)).to.deep.equal(['GET /boats/{boat_id}']);
                expect(found.report.read).to.equal(odd.length + 3);
            }),
        );
    });
});

async function elementsOf(text: string, chunk: number, maxBytes = 1_000_000): Promise<Element[]> {
    const bytes = Buffer.from(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, place) =>
        bytes.subarray(place * chunk, (place + 1) * chunk),
    );
    const found: Element[] = [];
    for await (const element of streamElements(Readable.from(pieces), ['log', 'entries'], { maxBytes })) found.push(element);
    return found;
}
