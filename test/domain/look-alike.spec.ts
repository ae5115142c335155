import { domainToASCII } from 'node:url';
import { expect } from 'chai';
import { mayBeReadAs, resemblance, skeletonOf } from '../../shared/domain/site/look-alike.ts';

const ascii = (name: string) => domainToASCII(name);
const like = (name: string, other: string, isWellKnown = false) => resemblance(ascii(name), ascii(other), isWellKnown);

describe('a name that may be mistaken for another', () => {
    it('has letters of other scripts, accents, digits or pairs that look like letters, or more hyphens', () => {
        for (const [name, other] of [
            ['gіthub.com', 'github.com'],
            ['раураl.com', 'paypal.com'],
            ['ωikipedia.org', 'wikipedia.org'],
            ['gìthüb.com', 'github.com'],
            ['g00gle.com', 'google.com'],
            ['paypa1.com', 'paypal.com'],
            ['exarnple.com', 'example.com'],
            ['vvikipedia.org', 'wikipedia.org'],
            ['stack-exchange.com', 'stackexchange.com'],
            ['gіthub.net', 'github.com'],
            ['githuЬ.com', 'github.com'],
        ] as const)
            expect(like(name, other), name).to.equal('letters that look alike');
    });

    it('is the same with another ending', () => {
        for (const [name, other] of [
            ['github.net', 'github.com'],
            ['github.co.uk', 'github.com'],
            ['wikipedia.com', 'wikipedia.org'],
            ['bücher.example', 'bücher.test'],
        ] as const)
            expect(like(name, other), name).to.equal('another ending');
    });

    it('is one letter away from a well-known one', () => {
        for (const [name, other] of [
            ['githib.com', 'github.com'],
            ['gihtub.com', 'github.com'],
            ['githubb.com', 'github.com'],
            ['wikpedia.org', 'wikipedia.org'],
            ['wikipedya.com', 'wikipedia.org'],
        ] as const) {
            expect(like(name, other, true), name).to.equal('one letter');
            expect(like(name, other, false), name).to.equal(undefined);
        }
    });

    it('is not one that people can distinguish', () => {
        for (const [name, other] of [
            ['github.com', 'github.com'],
            ['github.com', 'gitlab.com'],
            ['shop.com', 'ship.com'],
            ['nasa.gov', 'nbsa.gov'],
            ['x.com', 'x.org'],
            ['wikipedia.org', 'wiktionary.org'],
            ['mybooks.com', 'books.com'],
        ] as const)
            expect(like(name, other, true), `${name} ${other}`).to.equal(undefined);
    });

    it('on private suffixes only counts beside a well-known name', () => {
        expect(like('docs.github.io', 'docs.gitlab.io')).to.equal(undefined);
        expect(like('docs.github.io', 'docs.com')).to.equal(undefined);
        expect(like('paypal.github.io', 'paypal.com', true)).to.equal('another ending');
        expect(like('раураl.github.io', 'paypal.com')).to.equal('letters that look alike');
    });

    it('covers names that people read: Routebook in any letters, between any others, is taken for Routebook', () => {
        for (const name of [
            'Routebook',
            'routebook inc',
            'R0utebook',
            'Route-book',
            'Rоutebооk',
            'Ｒoutebook',
            '𝐑𝐨𝐮𝐭𝐞𝐛𝐨𝐨𝐤',
            'Routeb\u200book',
            'Róutebook',
            'The R.o.u.t.e.b.o.o.k team',
            'Routebok',
        ])
            expect(mayBeReadAs(name, 'Routebook'), name).to.equal(true);
        for (const name of ['Route', 'Notebook', 'Guidebook', 'workspace-a1b2c3', 'Ada', 'Route Planner', 'x'])
            expect(mayBeReadAs(name, 'Routebook'), name).to.equal(false);
    });

    it('has the same skeleton for every spelling of the same letters, and never an empty one', () => {
        expect(skeletonOf(ascii('gіthub.com'))).to.equal('github');
        expect(skeletonOf('xn--bcher-kva.test')).to.equal('bucher');
        for (const name of ['github.io', 'a.github.io', 'co.test', ascii('例え.テスト'), '1.test'])
            expect(skeletonOf(name), name).not.to.equal('');
    });
});
