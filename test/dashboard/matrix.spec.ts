import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from '../../api/dashboard/page.ts';
import { PAGES } from '../../api/dashboard/pages.ts';
import { buildServer } from '../../api/server.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { everyRoute } from '../support/routes.ts';
import { openWorld } from '../support/world.ts';
import { MEANINGS, namesOfPages } from './support/names.ts';
import { absentValues, pathOf } from './support/places.ts';

/** Routes that belong to no tenant, with the reason. */
const OF_NOBODY: Readonly<Record<string, string>> = {
    'get /livez': 'says only that the process lives',
    'get /readyz': 'says only whether it takes calls',
    'get /metrics': 'figures of the process, without ids; test/api/markers.spec.ts looks for them',
    'get /robots.txt': 'the same for everybody',
    'get /.well-known/security.txt': 'the same for everybody',
    'get /.well-known/change-password': 'leads to the settings of the visitor',
    'get /llms.txt': 'the same for everybody',
    'get /schemas/routebook-1.json': 'the same for everybody',
    'get /sitemap.xml': 'the same for everybody',
    'get /sitemaps/pages.xml': 'the same for everybody',
    'get /sitemaps/sites.xml': 'names of sites, which are published',
    'get /favicon.ico': 'a file of ours',
    'get /assets/{version}/{name}': 'files of ours',
    'get /.well-known/oauth-protected-resource': 'the same for everybody',
    'get /.well-known/oauth-protected-resource/mcp/{site?}': 'the same for everybody',
    'get /.well-known/oauth-authorization-server': 'the same for everybody',
    'get /.well-known/oauth-authorization-server/{resource*}': 'the same for everybody',
    'post /oauth/register': 'makes an app, which belongs to nobody',
    'post /oauth/token': 'takes codes and tokens alone; test/agents/sign-in.spec.ts has whose they are',
    'post /oauth/revoke': 'takes tokens alone',
    'post /mcp': 'calls routes of the API with the caller’s own key; test/agents has its tenants',
    'post /mcp/{site}': 'the same, with the endpoints of one site, which is published',
    'post /webhooks/stripe': 'takes nothing but signed ids; test/billing/webhook.spec.ts has whose they are',
};

/** Every kind of id that is generated, and where the matrices test another tenant's. */
const KINDS: Readonly<Record<string, RegExp>> = {
    usr: /what: 'user'/,
    wsp: /what: 'workspace'/,
    key: /what: 'key'/,
    ses: /what: 'session'/,
    req: /what: 'request'/,
    srq: /what: 'schema_request'/,
    clm: /what: 'claim'/,
    con: /what: 'connection'/,
    job: /what: 'job'/,
    bat: /what: 'batch'/,
    mon: /what: 'monitor'/,
    whk: /what: 'webhook'/,
    dlv: /delivery_id: newId\('dlv'\)/,
    op: /operation: newId\('op'\)/,
    inv: /invitation_id: newId\('inv'\)/,
    // It only occurs in a signed link.
    rmv: /newId\('rmv'\)/,
    pky: /passkey_id: newId\('pky'\)/,
    ntc: /notice: newId\('ntc'\)/,
    // It never leaves the database. Stripe's session id is used instead.
    chk: /checkout: `cs_/,
    // No route takes one.
    evt: /./,
    run: /./,
    chg: /./,
    rep: /./,
    // Apps belong to no tenant: any user may authorise them.
    app: /./,
};

describe('the test of what one tenant may see of another covers everything:', () => {
    it('each route of the server is in the table of contracts or of pages, or is listed here with a reason', async () => {
        const world = await openWorld({ workers: 0 });
        try {
            const served = (await buildServer(world.app))
                .table()
                .filter(({ settings }) => settings.app?.isRefused !== true)
                .map(({ method, path }) => `${method} ${path}`);
            const tabled = [...CONTRACTS, ...PAGES].map(({ method, path }) => `${method.toLowerCase()} ${path}`);
            // Opened as a page, the address of a form leads to the page around it, and reads nothing.
            const forms = PAGES.filter(({ method, path }) => method === 'POST' && path.startsWith('/dashboard/')).map(
                ({ path }) => `get ${path}`,
            );
            const known = new Set([...tabled, ...forms, ...Object.keys(OF_NOBODY)]);
            expect(served.filter((route) => !known.has(route))).to.deep.equal([]);
            expect(tabled.filter((route) => !served.includes(route))).to.deep.equal([]);
        } finally {
            await world.close();
        }
    });

    it('a new page whose path has a placeholder without a test value fails', () => {
        const page: Page = {
            method: 'GET',
            path: '/dashboard/crates/{crate_id}',
            audience: 'signed-in',
            respond: async () => ({ to: '/' }),
        };
        expect(() => pathOf(page, absentValues())).to.throw('no value for crate_id');
        for (const one of PAGES) expect(pathOf(one, absentValues())).not.to.include('{');
    });

    it('a new route of the API whose path or body has a field without a test value fails', () => {
        const [get, post] = [CONTRACTS.find(({ name }) => name === 'getVersions'), CONTRACTS.find(({ name }) => name === 'postFetch')];
        if (get === undefined || post === undefined) throw new Error('these routes are there');
        expect(() => everyRoute('shop.test', {}, [{ ...get, path: '/v1/crates/{crate_id}' }])).to.throw('no value for /v1/crates');
        expect(() => everyRoute('shop.test', {}, [{ ...post, name: 'postCrate' }])).to.throw('no body for postCrate');
    });

    it('a new name in an address or a form without a meaning fails', () => {
        const names = namesOfPages();
        expect(names).to.include.members(['workspace', 'notice', 'key', 'call', 'checkout']);
        expect(
            names.filter((name) => !(name in MEANINGS)),
            'say in test/dashboard/support/names.ts whose they are',
        ).to.deep.equal([]);
    });

    it('a new kind of id that the matrices do not test fails', () => {
        const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
        const [, union = ''] = /type IdPrefix =\s*([^;]+);/.exec(read('../../shared/domain/text/ids.ts')) ?? [];
        const kinds = [...union.matchAll(/'(\w+)'/g)].map(([, kind = '']) => kind);
        expect(kinds).to.have.members(Object.keys(KINDS));
        const matrices = ['../api/tenants.spec.ts', './tenants.spec.ts', './support/places.ts', './removals.spec.ts'].map(read).join('\n');
        for (const [kind, place] of Object.entries(KINDS)) expect(matrices, kind).to.match(place);
    });
});
