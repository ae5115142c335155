import { expect } from 'chai';
import fc from 'fast-check';
import { hasRepeatedKeys } from '../../shared/domain/repeated-keys.ts';

const isRepeating = (text: string) => hasRepeatedKeys(text, JSON.parse(text));

describe('a JSON text that names a key twice', () => {
    for (const text of [
        '{"a":1,"a":1}',
        '{ "a":1, "a":2 }',
        '[{"b":{"a":1,"\\u0061":2}}]',
        '{"__proto__":1,"__proto__":2}',
        '{"":0,"":0}',
    ]) {
        it(`is told: ${text}`, () => expect(isRepeating(text)).to.equal(true));
    }

    for (const text of [
        '{"a":1,"b":{"a":1}}',
        '[{"a":1},{"a":1}]',
        '{"a:b":"\\":\\\\", "c":":"}',
        '{ "__proto__": {"a":1} }',
        '":"',
        '1e999',
        '[]',
    ]) {
        it(`is not taken for: ${text}`, () => expect(isRepeating(text)).to.equal(false));
    }

    it('is told from any other, however it is written', () => {
        fc.assert(
            fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (json, space) => {
                const value: unknown = JSON.parse(json);
                const text = JSON.stringify(value, null, space);
                expect(isRepeating(text)).to.equal(false);
                expect(isRepeating(`{"x":${text},"x":${text}}`)).to.equal(true);
            }),
        );
    });
});
