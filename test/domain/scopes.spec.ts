import { expect } from 'chai';
import {
    EARLIER_SCOPES,
    EVERY_SCOPE,
    FIRST_SCOPES,
    isWider,
    prepareScopes,
    readScopeList,
    type Scopes,
} from '../../shared/domain/accounts/scopes.ts';
import { readScopes, scopeText } from '../../shared/domain/accounts/scopes-text.ts';

describe('scopes of a key', () => {
    it('start with the dashboard’s defaults, and are wider only by additions', () => {
        expect(FIRST_SCOPES.routes).to.deep.equal(['fetch', 'catalog', 'jobs', 'account']);
        expect(EARLIER_SCOPES.routes).to.deep.equal(['fetch', 'catalog', 'jobs', 'publish', 'account']);
        const wide: Partial<Scopes>[] = [
            { routes: [...FIRST_SCOPES.routes, 'maintain'] },
            { sites: ['a.test', 'b.test'] },
            { sites: null },
            { endpoints: null },
            { ip_allow: null },
            { ip_allow: ['10.0.0.0/7'] },
            { ip_allow: ['10.0.0.0/8', '192.0.2.1/32'] },
            { connections: null },
        ];
        const before: Scopes = { ...FIRST_SCOPES, sites: ['a.test'], endpoints: ['search'], ip_allow: ['10.0.0.0/8'] };
        for (const change of wide) expect(isWider({ ...before, ...change }, before), JSON.stringify(change)).to.equal(true);
        const narrow: Partial<Scopes>[] = [
            {},
            { routes: [] },
            { effects: ['read'] },
            { ip_allow: ['10.1.0.0/16', '10.0.0.1/32'] },
            { sites: [] },
        ];
        for (const change of narrow) expect(isWider({ ...before, ...change }, before), JSON.stringify(change)).to.equal(false);
        expect(isWider({ ...before, effects: ['write'] }, { ...before, effects: ['read'] })).to.equal(true);
        expect(isWider(before, EVERY_SCOPE)).to.equal(false);
    });

    it('match addresses in any spelling, and no others', () => {
        const { allowsAddress } = prepareScopes({ ...EVERY_SCOPE, ip_allow: ['192.0.2.0/24', '2001:db8::/32', '::ffff:198.51.100.0/120'] });
        for (const address of ['192.0.2.255', '::ffff:192.0.2.1', '2001:DB8::1', '198.51.100.9'])
            expect(allowsAddress(address)).to.equal(true);
        for (const address of ['192.0.3.0', '2001:db9::1', 'nonsense', '', '198.51.101.0']) expect(allowsAddress(address)).to.equal(false);
        expect(prepareScopes(EVERY_SCOPE).allowsAddress('203.0.113.1')).to.equal(true);
    });

    it('are parsed from lists in people’s notation, limited and normalised', () => {
        expect(readScopeList('sites', ' Shop.Example.com,\nwww.other.test  ')).to.deep.equal({
            ok: true,
            values: ['shop.example.com', 'other.test'],
        });
        expect(readScopeList('ip_allow', '10.0.0.1 2001:db8::/32')).to.deep.equal({ ok: true, values: ['10.0.0.1/32', '2001:db8::/32'] });
        expect(readScopeList('endpoints', '')).to.deep.equal({ ok: true, values: null });
        for (const [part, text] of [
            ['sites', 'localhost'],
            ['endpoints', 'Bad Name'],
            ['ip_allow', '10.0.0.0/33'],
            ['ip_allow', 'somewhere'],
            ['ip_allow', '10.1'],
            ['ip_allow', '1.2.3/24'],
            ['ip_allow', '010.0.0.1'],
            ['ip_allow', Array.from({ length: 51 }, (_, index) => `10.0.0.${index}`).join(' ')],
            ['endpoints', Array.from({ length: 101 }, (_, index) => `e${index}`).join(' ')],
        ] as const)
            expect(readScopeList(part, text).ok, text).to.equal(false);
    });

    it('are written by operators in one line, and shown in the same form', () => {
        const text = 'routes=fetch,catalog effects=read sites=shop.example.com connections=none ip=10.0.0.0/8';
        const read = readScopes(text);
        expect(read).to.deep.equal({
            ok: true,
            scopes: {
                ...EVERY_SCOPE,
                routes: ['fetch', 'catalog'],
                effects: ['read'],
                sites: ['shop.example.com'],
                connections: [],
                ip_allow: ['10.0.0.0/8'],
            },
        });
        if (read.ok) expect(scopeText(read.scopes)).to.equal(text);
        const named = readScopes('connections=con_1a,con_2b');
        expect(named).to.deep.equal({ ok: true, scopes: { ...EVERY_SCOPE, connections: ['con_1a', 'con_2b'] } });
        if (named.ok) expect(scopeText(named.scopes)).to.equal('connections=con_1a,con_2b');
        expect(scopeText(EVERY_SCOPE)).to.equal('everything');
        for (const wrong of [
            '',
            'fetch',
            'routes=nothing',
            'sites=',
            'routes=',
            'effects=',
            'sites=localhost',
            'effects=read effects=write',
            'roles=x',
            'connections=x',
            'connections=',
        ])
            expect(readScopes(wrong).ok, wrong).to.equal(false);
    });
});
