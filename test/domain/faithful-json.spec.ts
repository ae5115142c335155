import { expect } from 'chai';
import fc from 'fast-check';
import { isFaithful } from '../../shared/domain/json/faithful-json.ts';

const isFaithfulText = (text: string) => isFaithful(text, JSON.parse(text));

describe('a JSON text that is passed on unchanged', () => {
    for (const text of [
        '{"a":1,"a":1}',
        '{ "a":1, "a":2 }',
        '[{"b":{"a":1,"\\u0061":2}}]',
        '{"__proto__":1,"__proto__":2}',
        '{"":0,"":0}',
    ]) {
        it(`differs from its parsed value: not ${text.slice(0, 40)}`, () => expect(isFaithfulText(text)).to.equal(false));
    }

    for (const text of [
        '{"a":1,"b":{"a":1}}',
        '[{"a":1},{"a":1}]',
        '{"a:b":"\\":\\\\", "c":":"}',
        '{ "__proto__": {"a":1} }',
        '":"',
        `{ "hash": "${'7'.repeat(400)}", "id": 12345678901234567890 }`,
        '[ 12345678901234567890, 1.10, 1e300 ]',
        '{ "a":[-1e999] }',
        '[]',
    ]) {
        it(`equals its parsed value: ${text.slice(0, 40)}`, () => expect(isFaithfulText(text)).to.equal(true));
    }

    it('equals its parsed value in any notation, unless it has a duplicate key', () => {
        fc.assert(
            fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (json, space) => {
                const value: unknown = JSON.parse(json);
                const text = JSON.stringify(value, null, space);
                expect(isFaithfulText(text)).to.equal(true);
                expect(isFaithfulText(`{"x":${text},"x":${text}}`)).to.equal(false);
            }),
        );
    });
});
