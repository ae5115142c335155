import { expect } from 'chai';
import fc from 'fast-check';
import { isOnDomain, normaliseSite, registrableDomain } from '../../shared/domain/site/site-name.ts';

const SITES: [written: string, site: string, registrable: string][] = [
    ['example.com', 'example.com', 'example.com'],
    ['shop.example.com', 'shop.example.com', 'example.com'],
    ['  Shop.Example.COM\n', 'shop.example.com', 'example.com'],
    ['example.com.', 'example.com', 'example.com'],
    ['www.example.com', 'example.com', 'example.com'],
    ['WWW.Example.com.', 'example.com', 'example.com'],
    ['www.www.example.com', 'example.com', 'example.com'],
    ['www.shop.example.com', 'shop.example.com', 'example.com'],
    ['wwwx.example.com', 'wwwx.example.com', 'example.com'],
    ['shop.www.example.com', 'shop.www.example.com', 'example.com'],
    ['bbc.co.uk', 'bbc.co.uk', 'bbc.co.uk'],
    ['news.bbc.co.uk', 'news.bbc.co.uk', 'bbc.co.uk'],
    ['city.kawasaki.jp', 'city.kawasaki.jp', 'city.kawasaki.jp'],
    ['a.b.kawasaki.jp', 'a.b.kawasaki.jp', 'a.b.kawasaki.jp'],
    ['a.github.io', 'a.github.io', 'a.github.io'],
    ['b.a.github.io', 'b.a.github.io', 'a.github.io'],
    ['github.io', 'github.io', 'github.io'],
    ['www.github.io', 'github.io', 'github.io'],
    ['blogspot.com', 'blogspot.com', 'blogspot.com'],
    ['shop.test', 'shop.test', 'shop.test'],
    ['api.shop.test', 'api.shop.test', 'shop.test'],
    ['shop.example', 'shop.example', 'shop.example'],
    ['münchen.de', 'xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
    ['MÜNCHEN.de', 'xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
    ['mu\u0308nchen.de', 'xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
    ['XN--MNCHEN-3YA.de', 'xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
    ['faß.de', 'xn--fa-hia.de', 'xn--fa-hia.de'],
    ['пример.рф', 'xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd.xn--p1ai'],
    ['例え.jp', 'xn--r8jz45g.jp', 'xn--r8jz45g.jp'],
    ['shop。example．com', 'shop.example.com', 'example.com'],
    ['ｗｗｗ．ｅｘａｍｐｌｅ．ｃｏｍ', 'example.com', 'example.com'],
    ['soft\u00adhyphen.com', 'softhyphen.com', 'softhyphen.com'],
    ['1and1.com', '1and1.com', '1and1.com'],
    ['4chan.org', '4chan.org', '4chan.org'],
    ['123.com', '123.com', '123.com'],
    ['r3---sn-4g5.googlevideo.com', 'r3---sn-4g5.googlevideo.com', 'googlevideo.com'],
    [`${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`],
    [`${'abcdefg.'.repeat(31)}a.com`, `${'abcdefg.'.repeat(31)}a.com`, 'a.com'],
];

const REFUSED: [written: string, why: RegExp][] = [
    ['', /empty/],
    ['   ', /empty/],
    ['https://example.com', /scheme/],
    ['HTTP://example.com/', /scheme/],
    ['mailto:me@example.com', /user info/],
    ['example.com:443', /port/],
    ['example.com/', /path/],
    ['example.com/shop', /path/],
    ['example.com\\shop', /path/],
    ['//example.com', /path/],
    ['example.com?q=1', /path/],
    ['example.com#top', /path/],
    ['user@example.com', /user info/],
    ['user:pw@example.com', /user info/],
    ['my_shop.example.com', /underscore/],
    ['my＿shop.example.com', /underscore/],
    ['127.0.0.1', /IP address/],
    ['１２７.0.0.1', /IP address/],
    ['8.8.8.8.', /IP address/],
    ['127.1', /IP address/],
    ['2130706433', /IP address/],
    ['0x7f.1', /IP address/],
    ['0177.0.0.1', /IP address/],
    ['www.127.0.0.1', /valid|IP address/],
    ['999.999.999.999', /valid/],
    ['shop.123', /valid/],
    ['shop.0x10', /valid/],
    ['[::1]', /IP address/],
    ['::1', /IP address/],
    ['fe80::1%eth0', /IP address/],
    ['::ffff:127.0.0.1', /IP address/],
    ['com', /single label/],
    ['example', /single label/],
    ['intranet', /single label/],
    ['www.com', /single label/],
    ['co.uk', /public suffix/],
    ['www.co.uk', /public suffix/],
    ['kawasaki.jp', /public suffix/],
    ['x.ck', /public suffix/],
    ['www.ck', /single label/],
    ['рф', /single label/],
    ['localhost', /single label/],
    ['app.localhost', /localhost/],
    ['printer.local', /local/],
    ['db.internal', /internal/],
    ['metadata.google.internal', /internal/],
    ['facebookcorewwwi.onion', /onion/],
    ['1.0.0.127.in-addr.arpa', /arpa/],
    ['nothing.invalid', /invalid/],
    ['NOTHING.INVALID.', /invalid/],
    ['example..com', /empty label/],
    ['.example.com', /empty label/],
    ['example.com..', /empty label/],
    ['\u00ad.com', /empty label/],
    ['-a.example.com', /hyphen/],
    ['a-.example.com', /hyphen/],
    ['a b.com', /white space/],
    ['a\u3000b.com', /white space/],
    ['a\tb.com', /control/],
    ['a\u0000b.com', /control/],
    ['a\u0085b.com', /control/],
    ['a\ud800b.com', /control/],
    ['ex%61mple.com', /percent/],
    ['example%2ecom', /percent/],
    ['example％2ecom', /valid|characters/],
    ['*.example.com', /characters/],
    ["it's.example.com", /characters/],
    ['a,b.com', /characters/],
    ['a／b.com', /valid/],
    ['℀.com', /valid/],
    ['xn--a.de', /A-label/],
    ['xn--99999999.com', /A-label/],
    ['xn--xn---epa.com', /A-label/],
    ['\u0301a.com', /valid/],
    [`${'a'.repeat(64)}.com`, /63/],
    [`${'abcdefg.'.repeat(31)}aa.com`, /253/],
    ['a.'.repeat(500_000), /253/],
    ['__proto__', /underscore/],
];

describe('the name of a site', () => {
    for (const [written, site, registrable] of SITES) {
        it(`reads ${JSON.stringify(written.slice(0, 50))} as ${site.slice(0, 50)} of ${registrable.slice(0, 50)}`, () => {
            expect(normaliseSite(written)).to.deep.equal({ ok: true, site, registrable });
        });
    }

    for (const [written, why] of REFUSED) {
        it(`refuses ${JSON.stringify(written.slice(0, 50))} and says why`, () => {
            const result = normaliseSite(written);
            expect(result.ok).to.equal(false);
            if (!result.ok) expect(result.message).to.match(why);
        });
    }

    it('does not change when it is normalised again', () => {
        const pieces = fc.constantFrom(
            'www',
            'a',
            'com',
            'co',
            'uk',
            'github',
            'io',
            'ü',
            'ß',
            'XN--MNCHEN-3YA',
            '例',
            'ı',
            '．',
            '.',
            '。',
            '-',
            '1',
            '\u00ad',
        );
        const typed = fc
            .array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 8 })
            .map((parts) => parts.join('.'));
        fc.assert(
            fc.property(fc.oneof(typed, fc.domain(), fc.string({ unit: 'grapheme' })), (text) => {
                const once = normaliseSite(text);
                if (!once.ok) return;
                expect(normaliseSite(once.site)).to.deep.equal(once);
                expect(once.site).to.match(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
                expect(isOnDomain(once.site, once.registrable)).to.equal(true);
                expect(new URL(`https://${once.site}/`).hostname).to.equal(once.site);
            }),
            { numRuns: 3000, seed: 7 },
        );
    });
});

describe('the registrable domain', () => {
    it('separates owners on a private suffix', () => {
        expect(isOnDomain('api.a.github.io', 'a.github.io')).to.equal(true);
        expect(isOnDomain('b.github.io', 'a.github.io')).to.equal(false);
        expect(isOnDomain('a.github.io', 'github.io')).to.equal(false);
    });

    it('is not fooled by a name with the same ending', () => {
        expect(isOnDomain('notexample.com', 'example.com')).to.equal(false);
        expect(isOnDomain('example.com.evil.test', 'example.com')).to.equal(false);
        expect(isOnDomain('api.example.com', 'example.com')).to.equal(true);
    });

    it('is undefined for addresses, single labels and suffixes', () => {
        for (const host of ['127.0.0.1', '[::1]', '::1', 'localhost', 'com', 'co.uk', ''])
            expect(registrableDomain(host), host).to.equal(undefined);
    });
});
