import { expect } from 'chai';
import fc from 'fast-check';
import { isExact, parseExact } from '../../shared/domain/json/exact-numbers.ts';

const rewritten = (text: string) => JSON.stringify(parseExact(text));

describe('JSON that is parsed with all digits', () => {
    it('is written with its original digits', () => {
        for (const text of [
            '9007199254740993',
            '[-9007199254740993,12345678901234567890,0.12345678901234567890]',
            '{"a":{"b":[1,{"c":9007199254740993}]},"9007199254740993":1.5}',
            '{"__proto__":9007199254740993}',
            `${'7'.repeat(308)}`,
            '7'.repeat(400),
            '[1e400,-1E+999,1e-400,15,0.5]',
        ]) {
            expect(rewritten(text), text).to.equal(text);
        }
    });

    it('keeps every number of random texts, and turns no string into one', () => {
        const number = fc
            .tuple(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), fc.option(fc.stringMatching(/^\d{1,25}$/)))
            .map(([whole, fraction]) => (fraction === null ? `${whole}` : `${whole}.${fraction}`));
        const string = fc.string({ unit: fc.constantFrom('a', '\u0001', '\u0002', '9', '\\', '"', '.', ' ') });
        fc.assert(
            fc.property(fc.array(fc.tuple(string, number, string)), (entries) => {
                const parsed = parseExact(
                    `[${entries.map(([key, digits, value]) => `{${JSON.stringify(key)} : ${digits}, "_": ${JSON.stringify(value)}}`).join(',')}]`,
                ) as Record<string, unknown>[];
                for (const [place, [key, digits, value]] of entries.entries()) {
                    expect(parsed[place]?.['_']).to.equal(value);
                    // A decimal that a double represents may lose trailing zeros.
                    if (key !== '_')
                        expect(String(parsed[place]?.[key])).to.satisfy(
                            (text: string) => text === digits || Number(text) === Number(digits),
                        );
                    if (key !== '_' && /^-?\d+$/.test(digits) && digits !== '-0')
                        expect(BigInt(String(parsed[place]?.[key]))).to.equal(BigInt(digits));
                }
            }),
        );
    });

    it('is the same number whatever else the text contains', () => {
        const others = ['9007199254740993', '1e400', '"9e107d9d372bb6826bd81d3542a419d6"', '"90071992547409931234"'];
        for (const number of ['19.90', '100.0', '-0.50', '1.5e3', '-123456789012.50', '1.2345678901E-05', '1E400', '1.50000000000000000']) {
            const alone = rewritten(`[${number}]`);
            for (const other of others) expect(rewritten(`[${number},${other}]`)).to.equal(`${alone.slice(0, -1)},${other}]`);
        }
    });

    it('leaves numbers that JavaScript represents exactly as plain numbers', () => {
        for (const text of ['9007199254740992', '0.30000000000000004', '1e+300', '[1e+100,1e-7]', '-0']) {
            expect(parseExact(text), text).to.deep.equal(JSON.parse(text));
        }
    });

    it('compares and computes with doubles', () => {
        const { one, two, same } = parseExact('{"one":9007199254740993,"two":9007199254740995,"same":9007199254740993}') as Record<
            string,
            number
        >;
        expect(isExact(one)).to.equal(true);
        expect(one === same).to.equal(true);
        expect(Number(one) < Number(two)).to.equal(true);
        expect(1 + Number(one)).to.equal(9007199254740992 + 1);
    });

    it('is rounded if a text contains every marker, and its strings remain', () => {
        const marks = String.raw`\u0001\u0002\u0003\u0004\u0005\u0006\u0007`;
        expect(parseExact(`["${marks}",9007199254740993]`)).to.deep.equal(['\u0001\u0002\u0003\u0004\u0005\u0006\u0007', 9007199254740992]);
    });
});
