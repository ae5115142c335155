import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { estimateTokens } from '../../shared/domain/text/token-estimate.ts';
import { STARTERS } from '../starter/packages.ts';

const ratio = (text: string) => estimateTokens(text) / countTokens(text);
const noise = createHash('shake256', { outputLength: 3000 }).update('noise').digest();
const drawn = (from: string) => [...noise].map((byte) => from[byte % from.length]).join('');

describe('the estimated number of tokens of a text', () => {
    it('is too high by at most half for every starter package, and never too low', () => {
        for (const { document } of STARTERS) expect(ratio(JSON.stringify(document)), document.site).to.be.within(1, 1.5);
    });

    it('is about right for documents and programs', () => {
        for (const path of ['docs/api.md', 'shared/agents/agent-server.ts', 'package.json']) {
            expect(ratio(readFileSync(path, 'utf8')), path).to.be.within(1, 1.5);
        }
    });

    it('is hardly too low for random texts', () => {
        const texts = {
            base64: noise.toString('base64'),
            hex: noise.toString('hex'),
            letters: drawn('abcdefghijklmnopqrstuvwxyz'),
            capitals: drawn('ABCDEFGHIJKLMNOPQRSTUVWXYZ '),
            vowels: drawn('aeiou'),
            digits: drawn('0123456789 '),
            marks: drawn('!@#$%^&*()_+{}|:<>?~'),
            escapes: JSON.stringify(drawn('"\\\n')),
            'rare signs': drawn('㐀㑁㓂㗃㟄㞅㙆'),
        };
        for (const [kind, text] of Object.entries(texts)) expect(ratio(text), kind).to.be.within(0.7, 2);
    });

    it('is not far too high for other languages', () => {
        const texts = [
            'Die Überprüfung der Geschwindigkeit erfolgt täglich durch den zuständigen Mitarbeiter.',
            'Читает номер товара большого сайта со всеми известными сведениями о цене и запасах.',
            '读取大型网站的第几件商品的价格库存和制造商的所有已知信息',
        ];
        for (const text of texts) expect(ratio(text), text).to.be.within(1, 3.5);
    });

    it('is zero for an empty text', () => {
        expect(estimateTokens('')).to.equal(0);
    });
});
