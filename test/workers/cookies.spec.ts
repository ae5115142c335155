import { expect } from 'chai';
import { createCallCookies } from '../../workers/upstream/cookies.ts';

const NOW = Date.UTC(2026, 0, 1);
const PAGE = new URL('https://www.shop.test/account/login');

/** The cookies that are sent to `to` after these lines of Set-Cookie from `from`. */
function sent(lines: string[], { from = PAGE, to = PAGE, later = 0 }: { from?: URL; to?: URL; later?: number } = {}): string | undefined {
    const cookies = createCallCookies();
    cookies.store(from.href, lines, NOW);
    return cookies.header(to.href, NOW + later);
}

describe('the cookies of one call', () => {
    it('are sent back unchanged, without their attributes', () => {
        expect(sent(['session=a=b"c"; Path=/; HttpOnly; SameSite=Lax', ' csrf = t0ken '])).to.equal('csrf=t0ken; session=a=b"c"');
        expect(sent([])).to.equal(undefined);
    });

    for (const [what, line] of [
        ['without a name', '=value'],
        ['without a value sign', 'session'],
        ['with control characters', 'a=b\u0007'],
        ['longer than 4 KiB', `a=${'x'.repeat(4096)}`],
        ['for another host', 'a=1; Domain=other.test'],
        ['for a host below', 'a=1; Domain=deep.www.shop.test'],
    ] as const) {
        it(`are not stored ${what}`, () => expect(sent([line])).to.equal(undefined));
    }

    it('never leave their host, whatever Domain says', () => {
        const wide = ['a=1; Domain=.shop.test; Path=/'];
        expect(sent(wide)).to.equal('a=1');
        for (const host of ['shop.test', 'api.shop.test', 'deep.www.shop.test', 'www.shop.test.evil.test']) {
            expect(sent(wide, { to: new URL(`https://${host}/`) }), host).to.equal(undefined);
        }
    });

    it('are sent to their own path and paths below it', () => {
        for (const [path, at, isSent] of [
            ['/account', '/account', true],
            ['/account', '/account/x', true],
            ['/account/', '/account/x', true],
            ['/account', '/accounting', false],
            ['/account', '/', false],
        ] as const) {
            const to = new URL(at, PAGE);
            expect(sent([`a=1; Path=${path}`], { to }), `${path} at ${at}`).to.equal(isSent ? 'a=1' : undefined);
        }
        expect(sent(['a=1'], { to: new URL('/account/other', PAGE) })).to.equal('a=1');
        expect(sent(['a=1'], { to: new URL('/', PAGE) })).to.equal(undefined);
        expect(sent(['a=1; Path=nonsense'], { from: new URL('https://www.shop.test/login'), to: new URL('/x', PAGE) })).to.equal('a=1');
    });

    it('are not sent over plain http if they are secure', () => {
        expect(sent(['a=1; Path=/; Secure'], { to: new URL('http://www.shop.test/') })).to.equal(undefined);
        expect(sent(['a=1; Path=/'], { to: new URL('http://www.shop.test/') })).to.equal('a=1');
    });

    it('expire when they say, Max-Age first', () => {
        const past = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT';
        expect(sent([`a=1; ${past}`])).to.equal(undefined);
        expect(sent([`a=1; ${past}; Max-Age=60`])).to.equal('a=1');
        expect(sent(['a=1; Max-Age=60'], { later: 59_999 })).to.equal('a=1');
        expect(sent(['a=1; Max-Age=60'], { later: 60_000 })).to.equal(undefined);
        expect(sent(['a=1; Expires=some day; Max-Age=soon'])).to.equal('a=1');
        expect(sent(['a=1; Expires=Fri, 02 Jan 2026 00:00:00 GMT'], { later: 86_400_000 })).to.equal(undefined);
    });

    it('are replaced and removed by later ones, and the most specific path comes first', () => {
        const cookies = createCallCookies();
        cookies.store(PAGE.href, ['a=1; Path=/', 'b=1; Path=/', 'a=2; Path=/account'], NOW);
        cookies.store(PAGE.href, ['a=3; Path=/', 'b=; Path=/; Max-Age=0'], NOW);
        expect(cookies.header(PAGE.href, NOW)).to.equal('a=2; a=3');
    });

    it('are limited to fifty, the oldest are dropped first', () => {
        const lines = Array.from({ length: 60 }, (_, place) => `c${place}=1`);
        const names = sent(lines)?.split('; ') ?? [];
        expect(names).to.have.length(50);
        expect(names[0]).to.equal('c10=1');
    });
});
