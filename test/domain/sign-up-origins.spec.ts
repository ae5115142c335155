import { expect } from 'chai';
import { signUpOrigins } from '../../shared/domain/accounts/sign-up-origins.ts';
import { publicMailProviders } from '../../shared/platform/reserved-names.ts';

describe('the origin of a sign-up', () => {
    const originsOf = (address: string, mailDomain: string) => signUpOrigins({ address, mailDomain }, publicMailProviders());
    const isSame = (one: [string, string], other: [string, string]) =>
        originsOf(...one).some((origin) => originsOf(...other).includes(origin));

    for (const [what, one, other, expected] of [
        ['two addresses of an IPv4 /24', '203.0.113.7', '203.0.113.250', true],
        ['an IPv4 address and the same one in IPv6', '203.0.113.7', '::ffff:203.0.113.9', true],
        ['two IPv4 /24', '203.0.113.7', '203.0.114.7', false],
        ['two addresses of an IPv6 /48', '2001:db8:1:2::3', '2001:db8:1:ffff::9', true],
        ['two IPv6 /48', '2001:db8:1::3', '2001:db8:2::3', false],
    ] as const)
        it(`${what}: ${expected ? 'the same' : 'another'} range`, () => {
            expect(isSame([one, 'gmail.com'], [other, 'outlook.com'])).to.equal(expected);
        });

    for (const [what, one, other, expected] of [
        ['a domain of one\u2019s own', 'evil.example', 'evil.example', true],
        ['two names of one domain', 'a.evil.co.uk', 'b.c.evil.co.uk', true],
        ['two domains of one suffix', 'one.co.uk', 'two.co.uk', false],
        ['two sites of one host', 'one.github.io', 'two.github.io', false],
        ['a public provider', 'gmail.com', 'gmail.com', false],
        ['a public provider of one country', 'web.de', 'web.de', false],
    ] as const)
        it(`${what}: ${expected ? 'the same' : 'no common'} mail domain`, () => {
            expect(isSame(['198.51.100.1', one], ['192.0.2.1', other])).to.equal(expected);
        });
});
