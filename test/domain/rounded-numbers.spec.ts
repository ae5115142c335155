import { expect } from 'chai';
import fc from 'fast-check';
import { roundedNumbers } from '../../shared/domain/json/rounded-numbers.ts';

const placesOf = (text: string) => roundedNumbers(text).map(({ path }) => path);

describe('integers of a JSON text', () => {
    it('are reported if parsing would change them', () => {
        expect(placesOf('9007199254740993')).to.deep.equal(['']);
        expect(placesOf('{"a":[1,{"b":-9007199254740993}],"c":12345678901234567890}')).to.deep.equal(['/a/1/b', '/c']);
        // Twenty digits, of which a double prints seventeen and three zeros.
        expect(placesOf('[12345678901234567000,12345678901234567168]')).to.deep.equal(['/1']);
    });

    it('are accepted if parsing keeps them, in texts, and as decimals', () => {
        for (const text of [
            '9007199254740992',
            '-100000000000000000000',
            '1e20',
            `1${'0'.repeat(300)}`,
            '0.1234567890123456789',
            '9007199254740993.5',
            '"9007199254740993"',
            '{"9007199254740993":"\\\\\\"9007199254740993,"}',
        ]) {
            expect(placesOf(text), text).to.deep.equal([]);
        }
    });

    it('have the pointer of the parsed value, whatever is around them', () => {
        const around = fc.json({ maxDepth: 4 });
        const key = fc.string({ unit: 'binary' });
        fc.assert(
            fc.property(around, around, fc.array(fc.option(key), { maxLength: 6 }), (before, after, steps) => {
                let text = '9007199254740993';
                for (const step of steps) {
                    const name = JSON.stringify(step);
                    text = step === null ? `[${before}, ${text},${after}]` : `{"":${before},${name} : ${text}}`;
                }
                const [place = 'none', ...more] = placesOf(text);
                expect(more).to.deep.equal([]);
                let value: unknown = JSON.parse(text);
                for (const step of place.split('/').slice(1)) {
                    value = (value as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
                }
                expect(value).to.equal(9007199254740992);
            }),
        );
    });

    it('are reported outside of places that keep digits, and nowhere inside them', () => {
        const text = '{"a":N,"params":{"x":N,"y":[N,{"params":N}]},"params2":{"x":N},"list":[{"params":[N]},N],"again":{"params":{"x":N}}}';
        const places = roundedNumbers(text.replaceAll('N', '9007199254740993'), /^(?:\/params|\/list\/\d+\/params)\//);
        expect(places.map(({ path }) => path)).to.deep.equal(['/a', '/params2/x', '/list/1', '/again/params/x']);
    });

    it('are reported twenty times at most, and not in a text nested beyond every limit', () => {
        expect(placesOf(`[${Array.from({ length: 100 }, () => '9007199254740993').join(',')}]`)).to.have.length(20);
        expect(placesOf(`${'['.repeat(1_000_000)}9007199254740993${']'.repeat(1_000_000)}`)).to.deep.equal([]);
    });
});
