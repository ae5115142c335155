import { expect } from 'chai';
import { readSearch, searchEntry, spellings, typosAllowed } from '../../shared/domain/search/search-text.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';

const termsOf = (text: string) => readSearch(text)?.terms.map((term) => term.text);

describe('the search terms of a site', () => {
    it('are its own name, each part of it, and the words of its title', () => {
        const { label, lexemes } = searchEntry('math.stack-exchange.co.uk', 'Mathematics – questions & answers');
        expect(label).to.equal('stackexchange');
        expect(lexemes).to.include.members(['math', 'stack', 'exchange', 'stackexchange', 'mathematics', 'questions', 'answers']);
        expect(lexemes).to.include.members(['math.stack-exchange.co.uk', 'stack-exchange.co.uk']);
        expect(lexemes, 'what half of all sites end in').not.to.include.members(['co', 'uk']);
    });

    it('are the owner’s name on shared domains, and the domain itself if that is a site', () => {
        expect(searchEntry('ada.github.io', 'Ada').label).to.equal('ada');
        expect(searchEntry('github.io', 'Pages').label).to.equal('github');
    });

    it('are computed in linear time, however many accents one letter has', () => {
        for (const letter of ['a', '\u0e01', '']) {
            const made = () => searchEntry('a.test', letter + '\u0301\u0323'.repeat(30_000));
            expect(cpuMsOf(made)).to.be.below(roomFor(400));
            expect(made().label).to.equal('a');
        }
        expect(searchEntry('a.test', `Pho\u031b\u0309${'\u0301'.repeat(100)} Quán`).lexemes).to.include.members(['pho', 'quan']);
    });

    it('are in Unicode, without accents and case, in each spelling of camel case', () => {
        expect(searchEntry('xn--bcher-kva.test', 'Bücher').lexemes).to.deep.equal(['bucher.test', 'bucher']);
        expect(searchEntry('map.test', 'OpenStreetMap').lexemes).to.include.members(['openstreetmap', 'open', 'street', 'map']);
        expect(searchEntry('a.test', 'Straße Ǆ ﬁsh').lexemes).to.include.members(['strasse', 'fish']);
    });

    it('never contain operators of the database, nor a word without end', () => {
        const odd = [
            'O\'Reilly \\ " : * & | ! ( ) < >',
            'a\u0301\u0301',
            '💥💥',
            'x'.repeat(200),
            '\u200b\u00ad',
            'node.js 3.14 v1..2 .net',
            '1e5',
        ];
        for (const title of odd) {
            for (const lexeme of searchEntry('a-b.test', title).lexemes) {
                expect(lexeme, title).to.match(/^[\p{L}\p{N}\p{M}\p{Extended_Pictographic}\p{Regional_Indicator}.-]{1,64}$/u);
            }
        }
    });
});

describe('the terms of a query', () => {
    it('are none for a blank text, and match nothing for signs', () => {
        for (const text of ['', ' ', '\n\t']) expect(readSearch(text)).to.equal(undefined);
        for (const text of ['%', '&&&', '\\', "'", '...']) expect(termsOf(text), text).to.deep.equal([]);
    });

    it('are each word, unless it only begins another one; eight of them at most', () => {
        expect(termsOf('Git hub GITHUB')).to.deep.equal(['hub', 'github']);
        expect(termsOf('a b c d e f g h i j')).to.have.length(8);
    });

    it('are the host of a pasted URL, complete and in parts', () => {
        for (const text of ['https://www.GitHub.com/a?b#c', 'github.com', 'GITHUB.COM.', 'github.com/a/b']) {
            expect(readSearch(text)?.terms, text).to.deep.equal([{ text: 'github.com', parts: ['github', 'com'], isWhole: false }]);
            expect(readSearch(text)?.names, text).to.deep.equal({ of: 'site', prefix: 'github.com' });
        }
    });

    it('include everything written as one word', () => {
        expect(readSearch('Stack-Overflow questions')?.joined).to.equal('stackoverflowquestions');
        expect(readSearch('node.js packages')?.joined).to.equal('');
        expect(readSearch('github')?.joined).to.equal('');
    });

    it('may include a single letter at the end only, where it is being typed', () => {
        const isWhole = (text: string) => readSearch(text)?.terms.map((term) => term.isWhole);
        expect(isWhole('v')).to.deep.equal([false]);
        expect(isWhole('c vitamin ab')).to.deep.equal([true, false, false]);
        expect(isWhole('vit c d')).to.deep.equal([false, true, false]);
    });
});

describe('a mistyped word', () => {
    it('may have one mistake, and two if it is long', () => {
        expect(['ab', 'abc', 'abcdefg', 'abcdefgh', '東京'].map(typosAllowed)).to.deep.equal([0, 1, 1, 2, 0]);
    });

    it('is replaced by the nearest words, by characters missing, added, changed and swapped', () => {
        const known = ['github', 'gitlab', 'githubs', 'gist'];
        expect(spellings('githb', known)).to.deep.equal(['github']);
        expect(spellings('gihtub', known)).to.deep.equal(['github']);
        expect(spellings('githubz', known)).to.deep.equal(['github', 'githubs']);
        expect(spellings('stakoverflw', ['stackoverflow', 'overflow'])).to.deep.equal(['stackoverflow']);
        expect(spellings('xyz', known)).to.deep.equal([]);
    });

    it('is treated as the beginning of a word if it is near to no complete one', () => {
        expect(spellings('stakover', ['stackoverflow', 'stackexchange'])).to.deep.equal(['stackover']);
        expect(spellings('gihtub', ['githubbers', 'github'])).to.deep.equal(['github']);
    });
});
