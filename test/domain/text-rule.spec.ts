import { expect } from 'chai';
import { normaliseNewlines, textProblem } from '../../shared/domain/text/text-rule.ts';

describe('the text rule', () => {
    it('allows every language and every emoji', () => {
        for (const text of ['', 'Zürich', '東京', 'हिन्दी', '👩‍👩‍👧 family', 'a\u00a0b', '\u2028', '\ufffd', '𝒳'])
            expect(textProblem(text), text).to.equal(undefined);
    });

    it('refuses NUL, C0, DEL and C1 anywhere', () => {
        for (const code of [0, 1, 7, 8, 11, 12, 14, 27, 31, 127, 128, 133, 155, 159]) {
            const text = `abc${String.fromCharCode(code)}`;
            expect(textProblem(text), `U+${code}`).to.match(/control character \(U\+[0-9A-F]{4} at position 3\)/);
            expect(textProblem(text, { multiline: true }), `U+${code}`).to.match(/control character/);
        }
    });

    it('refuses lone surrogates, which UTF-8 cannot encode', () => {
        for (const text of ['\ud800', 'a\udc00', '\udc00\ud800']) expect(textProblem(text)).to.match(/well-formed/);
    });

    it('allows newlines and tabs in descriptions, tasks and intents only', () => {
        for (const text of ['a\nb', 'a\tb', 'a\r\nb']) {
            expect(textProblem(text)).to.match(/control character/);
            expect(textProblem(text, { multiline: true })).to.equal(undefined);
        }
        expect(textProblem('a\rb', { multiline: true })).to.match(/U\+000D/);
        expect(textProblem('a\r', { multiline: true })).to.match(/U\+000D/);
    });

    it('normalises newlines', () => {
        expect(normaliseNewlines('a\r\nb\nc\r\n')).to.equal('a\nb\nc\n');
    });
});
