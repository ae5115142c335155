import { expect } from 'chai';
import { checkIntent, exampleIntent } from '../../shared/domain/search/intent.ts';

const code = (text: string | undefined): string => {
    const checked = checkIntent(text);
    return checked.ok ? 'ok' : checked.code;
};

describe('the intent of a look-up', () => {
    it('is required', () => {
        for (const text of [undefined, '', '   ', '\n\t', '\u00a0']) expect(code(text)).to.equal('INTENT_REQUIRED');
    });

    it('has at least 20 characters after trimming, including spaces inside', () => {
        expect(code('a b c d e f g h i j')).to.equal('INTENT_TOO_SHORT');
        expect(code('a b c d e f g h i jk')).to.equal('ok');
        expect(code(`   a b c d e${' '.repeat(30)}`)).to.equal('INTENT_TOO_SHORT');
    });

    it('counts characters like people do, not code units', () => {
        expect(code('𝒳 𝒳 𝒳 𝒳 𝒳 𝒳 𝒳')).to.equal('INTENT_TOO_SHORT');
        expect(code('👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍')).to.equal('INTENT_TOO_SHORT');
        expect(code('👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍👍')).to.equal('INTENT_TOO_FEW_WORDS');
        expect(code('one\r\ntwo\r\nthree\r\nfive')).to.equal('INTENT_TOO_SHORT');
    });

    it('has at least 5 distinct words, ignoring case and punctuation', () => {
        expect(code('find the product price')).to.equal('INTENT_TOO_FEW_WORDS');
        expect(code('find the product price now')).to.equal('ok');
        expect(code('Find find FIND the product price!')).to.equal('INTENT_TOO_FEW_WORDS');
        expect(code('STRASSE straße Straße eins zwei drei')).to.equal('INTENT_TOO_FEW_WORDS');
        expect(code('compare-prices,of/two_shops')).to.equal('ok');
        expect(code('... --- !!! ??? ;;; ((( )))')).to.equal('INTENT_TOO_FEW_WORDS');
        expect(code('1 2 3 4 5 are enough words')).to.equal('ok');
    });

    it('reads accents in either spelling as one word, and other scripts as words', () => {
        expect(code('cafe\u0301 café CAFÉ prix menu carte')).to.equal('INTENT_TOO_FEW_WORDS');
        expect(code('найти цены на билеты в Москву')).to.equal('ok');
        expect(code('मुझे दिल्ली का मौसम बताओ आज')).to.equal('ok');
    });

    it('that is refused becomes an example that is accepted, with the same words', () => {
        expect(exampleIntent('Lamp  prices', 'shop.test')).to.equal('Lamp prices on shop.test: list what matches, with its details');
        const refused = [undefined, '', 'x', 'lamps, LAMPS, lamps and lamps', '👍'.repeat(20), 'цена', 'on shop test', 'ab '.repeat(400)];
        for (const typed of [...refused, `${'l'.repeat(300)} b`]) {
            expect(code(typed), typed).not.to.equal('ok');
            expect(code(exampleIntent(typed, 'a.io')), typed).to.equal('ok');
        }
    });

    it('is not repeated in an example if it contains a secret', () => {
        const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');
        expect(exampleIntent(`token ${secret}`, 'shop.test')).not.to.include('a1B2');
    });

    it('is returned trimmed, with its words in order', () => {
        expect(checkIntent('  Compare Prices of two shops, compare! ')).to.deep.equal({
            ok: true,
            intent: 'Compare Prices of two shops, compare!',
            words: ['compare', 'prices', 'of', 'two', 'shops'],
        });
    });
});
