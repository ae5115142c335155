import { expect } from 'chai';
import { createEchoMask } from '../../shared/domain/connections/echo.ts';
import { roomFor } from '../support/eventually.ts';

describe('a numeric credential in a JSON response', () => {
    const mask = createEchoMask({ username: 'ada', password: '20240101' });
    const shown = (text: string) => Buffer.from(mask?.bytes(Buffer.from(text), true) ?? '').toString('utf8');
    const cases: [title: string, sent: string, expected: unknown][] = [
        ['is hidden as a number', '{"a": 20240101}', { a: '•••' }],
        ['is hidden among the words of a text', '{"a":"pin 20240101 ok, \\"20240101\\""}', { a: 'pin ••• ok, "•••"' }],
        ['hides a longer number that holds it', '[1202401015,-20240101.5e3,7]', ['•••', '•••', 7]],
        ['is hidden where it is the whole answer', '20240101', '•••'],
    ];
    for (const [title, sent, expected] of cases) {
        it(`${title}, and the response remains valid JSON`, () => {
            expect(JSON.parse(shown(sent))).to.deep.equal(expected);
        });
    }
});

describe('a long credential in a response', () => {
    const secret = Array.from({ length: 8000 }, (_, at) => 'abcdefghijklmnopqrstuvwxyz'[(at * at + at) % 26]).join('');
    const mask = createEchoMask({ value: secret });
    const escaped = [...secret].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

    it('is masked plain, escaped, and beside other escapes', () => {
        for (const text of [secret, escaped, `\\u00e9${secret}\\u00e9`, `${secret.slice(0, 4000)}${escaped.slice(6 * 4000)}`]) {
            const shown = mask?.text(`{"a":"${text}","b":"\\u00e9"}`) ?? '';
            expect(shown).to.include('•••').and.include('"b":"\\u00e9"');
            for (let at = 0; at + 16 <= secret.length; at += 1000) expect(shown).not.to.include(secret.slice(at, at + 16));
        }
    });

    it('is masked if a multi-byte character is at the end of the searched text', () => {
        for (const value of [`${'a'.repeat(199)}${'\u{1f511}'.repeat(50)}`, `${'a'.repeat(198)}${'ö'.repeat(50)}`]) {
            const own = createEchoMask({ value });
            expect(own?.text(`<${value}>`)).to.equal('<•••>');
            expect(Buffer.from(own?.bytes(Buffer.from(`<${value}>`), false) ?? '').toString()).to.equal('<•••>');
        }
    });

    it('is masked if a site sends most of it', () => {
        const shown = mask?.text(`<${secret.slice(0, 7999)}!>`);
        expect(shown).to.equal('<•••!>');
    });

    it('is searched in linear time, however often a site sends nearly all of it', () => {
        const alike = createEchoMask({ value: 'a'.repeat(3000) });
        const page = `${`${'a'.repeat(2999)}b`.repeat(300)}`;
        const timed = (text: string) => {
            const began = performance.now();
            alike?.text(text);
            alike?.bytes(Buffer.from(text), true);
            return performance.now() - began;
        };
        timed(page);
        // 0.9 MB took 2.5 s if each character was compared with the complete credential. A page without it takes about 10 ms.
        expect(timed(`${page}\\u0061`)).to.be.below(roomFor(20) * Math.max(5, timed('c'.repeat(page.length))));
    });
});

describe('each encoding of a credential in a response', () => {
    const values = ['sk-live_4711.a~Z', 'aGVsbG8gd29ybGQ/+w==', 'two words "4711"', "it's(a)*key!", 'schlüssel-4711', '>>>???>>>'];
    const spellings: [name: string, spell: (value: string) => string][] = [
        ['plain', (value) => value],
        ['base64', (value) => Buffer.from(value).toString('base64')],
        ['base64 without padding', (value) => Buffer.from(value).toString('base64').replaceAll('=', '')],
        ['base64 for URLs', (value) => Buffer.from(value).toString('base64url')],
        ['percent-encoded', encodeURIComponent],
        ['percent-encoded in lower case', (value) => encodeURIComponent(value).replaceAll(/%../g, (code) => code.toLowerCase())],
        ['as a form', (value) => new URLSearchParams({ a: value }).toString().slice('a='.length)],
        ['JSON-escaped', (value) => JSON.stringify(value).slice(1, -1)],
    ];
    for (const [name, spell] of [...spellings, ['with escaped slashes', (value: string) => value.replaceAll('/', '\\/')] as const]) {
        it(`is masked in the header of a user name and password: ${name}`, () => {
            const mask = createEchoMask({ username: 'ada', password: '>>>???>>>ö' });
            const sent = spell(Buffer.from('ada:>>>???>>>ö').toString('base64'));
            expect(mask?.text(`<${sent}>`)).to.match(/^<•••=*>$/);
            expect(Buffer.from(mask?.bytes(Buffer.from(`<${sent}>`), false) ?? '').toString()).to.match(/^<•••=*>$/);
        });
    }
    for (const [name, spell] of spellings) {
        it(`is masked: ${name}`, () => {
            for (const value of values) {
                const sent = spell(value);
                const mask = createEchoMask({ value });
                expect(mask?.text(`<${sent}>`), value).to.match(/^<•••=*>$/);
                expect(Buffer.from(mask?.bytes(Buffer.from(`<${sent}>`), false) ?? '').toString(), value).to.match(/^<•••=*>$/);
            }
        });
    }
});
