import { expect } from 'chai';
import { balanceOf } from '../support/credits.ts';
import { FORM_SITE, FORM_SITE_HOSTS, formPackage, openFormSite, PASSWORD } from '../support/form-site.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import type { Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

const HOSTS = new Map(Object.entries(FORM_SITE_HOSTS).map(([name, address]) => [name, [address]]));

describe('a hosted fetch of an endpoint with prepare', () => {
    let world: World;
    let site: Site;
    let ada: Person;

    before(async () => {
        site = await openFormSite();
        world = await openWorld({ config: { egressHosts: HOSTS } });
        ada = await join(world, { plan: 'pro' });
        const published = await ada.publish(formPackage(site.port));
        expect(published.status, JSON.stringify(published.body)).to.equal(201);
        // The first charged fetch of a person earns 50 credits, which would disturb the bills below.
        expect((await ada.fetch(FORM_SITE, 'find', { q: 'a' })).status).to.equal(200);
    });
    after(async () => {
        await world.close();
        await site.close();
    });
    beforeEach(() => {
        site.seen.length = 0;
    });

    const asked = () => site.seen.map(({ method, path }) => `${method} ${path}`);

    it('fills in the page’s form and costs one request', async () => {
        const before = await balanceOf(ada);
        const answer = await ada.fetch(FORM_SITE, 'log_in', { user: 'ada', password: PASSWORD });
        expect(dataOf(answer)).to.include({ member: 'ada' });
        expect(answer.body['meta']).to.include({ credits_used: 1, results: 1, truncated: false, credits_remaining: before - 1 });
        expect((answer.body['meta'] as { upstream: object }).upstream).to.include({ status: 200, attempts: 3 });
        expect(asked()).to.deep.equal(['GET /login', 'POST /session', 'GET /members']);
    });

    it('submits once, and bills no submission that the site refuses', async () => {
        const before = await balanceOf(ada);
        const answer = await ada.fetch(FORM_SITE, 'log_in', { user: 'ada', password: 'guess' });
        expect(codeOf(answer)).to.equal('UPSTREAM_STATUS');
        expect(answer.body['error']).to.include({ retryable: false });
        expect(asked()).to.deep.equal(['GET /login', 'POST /session']);
        expect(await balanceOf(ada)).to.equal(before);
    });

    it('submits nothing if the form differs from the schema, free of charge', async () => {
        const before = await balanceOf(ada);
        for (const [endpoint, code] of [
            ['bad_none', 'UPSTREAM_INVALID_RESPONSE'],
            ['bad_twin', 'UPSTREAM_INVALID_RESPONSE'],
            ['bad_search', 'UPSTREAM_INVALID_RESPONSE'],
            ['bad_away', 'UPSTREAM_REDIRECT'],
            ['bad_many', 'UPSTREAM_TOO_LARGE'],
        ] as const) {
            expect(codeOf(await ada.fetch(FORM_SITE, endpoint, { note: 'x' })), endpoint).to.equal(code);
        }
        expect(asked().every((one) => one === 'GET /login')).to.equal(true);
        expect(await balanceOf(ada)).to.equal(before);
    });

    it('shares no cookies between callers, nor between calls', async () => {
        const bo = await join(world);
        for (const person of [ada, bo, ada]) {
            const { cookie } = dataOf<{ cookie: string }>(await person.fetch(FORM_SITE, 'members_in_session'));
            expect(cookie).to.match(/^visit=v\d+$/);
        }
        const pages = site.seen.filter(({ path }) => path === '/login');
        expect(pages.map(({ headers }) => headers.cookie)).to.deep.equal([undefined, undefined, undefined]);
        const sessions = site.seen.filter(({ path }) => path === '/members').map(({ headers }) => headers.cookie);
        expect(new Set(sessions).size).to.equal(3);
        expect(codeOf(await bo.fetch(FORM_SITE, 'members')), 'a call that prepares nothing has no session').to.equal('UPSTREAM_STATUS');
    });

    it('follows the pages of a form’s results, and bills them', async () => {
        const answer = await ada.fetch(FORM_SITE, 'find_all', { q: 'key' });
        expect(dataOf(answer)['items']).to.deep.equal([{ page: 1 }, { page: 2 }]);
        expect(answer.body['meta']).to.include({ credits_used: 2, results: 2, truncated: false });
    });

    it('shows in a dry run the GET of its page and the fields to fill in, and sends nothing', async () => {
        const before = await balanceOf(ada);
        const plan = async (endpoint: string, params: Record<string, unknown> = {}) =>
            dataOf<{ request: { method: string; url: string; headers: object; body: unknown } }>(
                await ada.fetch(FORM_SITE, endpoint, params, { dry_run: true }),
            );
        const planned = await plan('log_in', { user: 'ada', password: 'not sent' });
        expect(planned).to.include({ credits_max: 1 });
        expect(planned).to.have.deep.property('then', { params: { user: 'ada', password: 'not sent' } });
        expect(planned.request).to.include({ method: 'GET', url: `http://${FORM_SITE}:${site.port}/login`, body: null });
        expect(planned.request.headers).to.have.all.keys('accept', 'user-agent', 'accept-encoding');
        const paged = await plan('find_all', { q: 'key' });
        expect(paged).to.include({ credits_max: 5 });
        expect(paged).to.have.deep.property('then', { params: { q: 'key', page: 1 } });
        expect((await plan('members_in_session')).request.url).to.equal(`http://${FORM_SITE}:${site.port}/login`);
        expect(site.seen).to.deep.equal([]);
        expect(await balanceOf(ada)).to.equal(before);
    });
});
