import { expect } from 'chai';
import { parseEgressAllow } from '../../shared/domain/site/egress-allow.ts';
import { checkDial, checkUrl, classifyAddress } from '../../workers/egress.ts';
import { loopbackRules } from '../support/sites.ts';
import { checkAddresses } from './address-table.ts';

describe('public internet addresses', () => {
    for (const [address, kind] of [
        ['1.1.1.1', 'public'],
        ['93.184.215.14', 'public'],
        ['2606:4700:4700::1111', 'public'],
        ['2a00:1450:4001::1', 'public'],
        ['0.0.0.0', 'unspecified'],
        ['0.1.2.3', 'this-network'],
        ['10.255.255.255', 'private'],
        ['100.63.255.255', 'public'],
        ['100.64.0.0', 'shared'],
        ['100.127.255.255', 'shared'],
        ['100.128.0.0', 'public'],
        ['127.0.0.1', 'loopback'],
        ['127.255.255.254', 'loopback'],
        ['169.254.169.254', 'link-local'],
        ['168.63.129.16', 'cloud-metadata'],
        ['172.15.255.255', 'public'],
        ['172.16.0.0', 'private'],
        ['172.31.255.255', 'private'],
        ['172.32.0.0', 'public'],
        ['192.0.0.170', 'protocol-assignments'],
        ['192.0.2.1', 'documentation'],
        ['192.88.99.1', '6to4-relay'],
        ['192.168.0.1', 'private'],
        ['198.17.255.255', 'public'],
        ['198.18.0.1', 'benchmarking'],
        ['198.19.255.255', 'benchmarking'],
        ['203.0.113.9', 'documentation'],
        ['224.0.0.1', 'multicast'],
        ['240.0.0.1', 'reserved'],
        ['255.255.255.255', 'broadcast'],
        ['::', 'unspecified'],
        ['::1', 'loopback'],
        ['::7f00:1', 'ipv4-compatible'],
        ['::ffff:8.8.8.8', 'ipv4-mapped'],
        ['::ffff:7f00:1', 'ipv4-mapped'],
        ['::ffff:0:127.0.0.1', 'unallocated'],
        ['64:ff9b::7f00:1', 'nat64'],
        ['64:ff9b:1::1', 'nat64'],
        ['100::1', 'discard'],
        ['2001::1', 'teredo'],
        ['2001:2::1', 'benchmarking'],
        ['2001:10::1', 'orchid'],
        ['2001:20::1', 'orchid'],
        ['2001:db8::1', 'documentation'],
        ['2002:7f00:1::', '6to4'],
        ['3fff::1', 'documentation'],
        ['4000::1', 'unallocated'],
        ['5f00::1', 'segment-routing'],
        ['fc00::1', 'unique-local'],
        ['fd00:ec2::254', 'unique-local'],
        ['fe80::1', 'link-local'],
        ['fe80::1%eth0', 'zoned'],
        ['2606:4700::1%1', 'zoned'],
        ['fec0::1', 'site-local'],
        ['ff02::1', 'multicast'],
        ['127.1', 'not-an-address'],
        ['0x7f000001', 'not-an-address'],
        ['0177.0.0.1', 'not-an-address'],
        ['localhost', 'not-an-address'],
        ['', 'not-an-address'],
    ] as const) {
        it(`calls ${address || 'an empty text'} ${kind}`, () => expect(classifyAddress(address)).to.equal(kind));
    }

    it('agrees with the IANA registries and with a library on random addresses and on every edge', () => {
        expect(checkAddresses(20_000)).to.be.above(5_000);
    });
});

describe('connections', () => {
    const none = loopbackRules('');
    const some = loopbackRules('127.0.0.0/8:3000,[::1]/128:3000,10.1.0.0/16');

    it('are allowed to a public address by https on 443 only', () => {
        expect(checkDial({ address: '1.1.1.1', port: 443, scheme: 'https' }, none)).to.equal('allowed');
        expect(checkDial({ address: '1.1.1.1', port: 443, scheme: 'http' }, none)).to.equal('scheme');
        expect(checkDial({ address: '1.1.1.1', port: 80, scheme: 'http' }, none)).to.equal('scheme');
        expect(checkDial({ address: '1.1.1.1', port: 8443, scheme: 'https' }, none)).to.equal('port');
    });

    it('are allowed by an entry of EGRESS_ALLOW that covers both address and port', () => {
        expect(checkDial({ address: '127.0.0.1', port: 3000, scheme: 'http' }, some)).to.equal('allowed');
        expect(checkDial({ address: '::1', port: 3000, scheme: 'https' }, some)).to.equal('allowed');
        expect(checkDial({ address: '10.1.2.3', port: 9, scheme: 'http' }, some)).to.equal('allowed');
        expect(checkDial({ address: '127.0.0.1', port: 3001, scheme: 'http' }, some)).to.equal('loopback');
        expect(checkDial({ address: '10.2.0.1', port: 9, scheme: 'http' }, some)).to.equal('private');
        expect(checkDial({ address: '::ffff:127.0.0.1', port: 3000, scheme: 'http' }, some)).to.equal('ipv4-mapped');
        expect(checkDial({ address: '1.1.1.1', port: 3000, scheme: 'http' }, some)).to.equal('scheme');
    });

    it('are checked by the name of a URL first, then user info, scheme and port', () => {
        const check = (url: string) => checkUrl(new URL(url), 'shop.test', some);
        expect(check('https://shop.test/')).to.equal('allowed');
        expect(check('https://api.shop.test/')).to.equal('allowed');
        expect(check('http://shop.test:3000/')).to.equal('allowed');
        expect(check('http://other.test:81/')).to.equal('name');
        expect(check('https://notshop.test/')).to.equal('name');
        expect(check('https://shop.test.evil.test/')).to.equal('name');
        expect(check('http://127.0.0.1:3000/')).to.equal('name');
        expect(check('https://me:secret@shop.test/')).to.equal('user-info');
        expect(check('https://shop.test:8443/')).to.equal('allowed');
        expect(checkUrl(new URL('https://shop.test:8443/'), 'shop.test', none)).to.equal('port');
        expect(checkUrl(new URL('http://shop.test/'), 'shop.test', none)).to.equal('scheme');
        expect(check('ftp://shop.test/')).to.equal('scheme');
    });
});

describe('the setting EGRESS_ALLOW', () => {
    it('accepts ranges with and without a port', () => {
        const parsed = parseEgressAllow(' 127.0.0.0/8:3000 , [::1]/128:3000,10.0.0.0/8, fd00::/8 ,192.168.1.5,[::1]:80');
        expect(parsed.ok && parsed.entries.map(({ network, prefix, port }) => `${network}/${prefix} ${port}`)).to.deep.equal([
            '127.0.0.0/8 3000',
            '::1/128 3000',
            '10.0.0.0/8 undefined',
            'fd00::/8 undefined',
            '192.168.1.5/32 undefined',
            '::1/128 80',
        ]);
    });

    for (const text of [
        'localhost:80',
        '127.0.0.1/33',
        '::1/129',
        '127.0.0.1:0',
        '127.0.0.1:65536',
        '127.1/8',
        '0x7f.0.0.1',
        '127.0.0.1:',
        '[::1',
        '*',
    ]) {
        it(`names the mistake in ${text}`, () => {
            const parsed = parseEgressAllow(text);
            expect(parsed.ok).to.equal(false);
            expect(!parsed.ok && parsed.problem).to.contain(JSON.stringify(text));
        });
    }
});
