import { expect } from 'chai';
import {
    isPathBlocked,
    NO_POLICY,
    type SitePolicy,
    secondsUntilAllOpen,
    secondsUntilOpen,
    strictest,
} from '../../shared/domain/site/site-policy.ts';
import { setOperatorPolicy } from '../../shared/store/registry/site-policies.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { aProvenClaim, codeOf, dataOf, INTENT } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`the proved owner of a domain, over ${topology}`, () => {
        let world: World;
        let shop: Shop;
        let owner: Person;
        let contributor: Person;
        let caller: Person;

        beforeEach(async () => {
            shop = await openShop();
            world = await openWorld({ topology, config: { egressHosts: SHOP_HOSTS } });
            [owner, contributor, caller] = await Promise.all([join(world), join(world), join(world, { plan: 'pro', credits: 1000 })]);
            dataOf(await contributor.publish(shopPackage(shop.port)));
            await aProvenClaim(world, owner, SHOP);
        });
        afterEach(async () => {
            await world.close();
            await shop.close();
        });

        const put = (policy: Partial<SitePolicy>, by = owner) => by.call('PUT', `/v1/sites/${SHOP}/policy`, { body: policy });
        const product = (more: object = {}, headers: Record<string, string> = {}) =>
            caller.call('POST', '/v1/fetch', { body: { site: SHOP, endpoint: 'product', params: { id: 1 }, ...more }, headers });
        const maintainers = `/v1/schemas/${SHOP}/maintainers`;

        it('blocks the domain for calls, dry runs, replays, look-ups and publishing, and unblocks it', async () => {
            const headers = { 'idempotency-key': 'once' };
            dataOf(await product({}, headers));
            expect(dataOf(await put({ blocked: true }))).to.deep.equal({ ...NO_POLICY, blocked: true });
            for (const answer of [
                await product(),
                await product({ dry_run: true }),
                await product({ max_age: 3600 }),
                await product({}, headers),
                await caller.call('GET', `/v1/catalog/${SHOP}?intent=${encodeURIComponent(INTENT)}`),
                await contributor.publish(shopPackage(shop.port, { title: 'Later' })),
            ])
                expect([answer.status, codeOf(answer)]).to.deep.equal([403, 'SITE_BLOCKED']);
            dataOf(await put({}));
            dataOf(await product());
        });

        it('blocks paths of a host by the name that people type', async () => {
            const claimed = 'bücher.test';
            await aProvenClaim(world, owner, 'xn--bcher-kva.test');
            const answer = await owner.call('PUT', `/v1/sites/${encodeURIComponent(claimed)}/policy`, {
                body: { blocked_paths: [{ host: 'Shop.Bücher.test.', path_prefix: '/admin' }] },
            });
            const { blocked_paths } = dataOf<SitePolicy>(answer);
            expect(isPathBlocked(blocked_paths, 'https://shop.xn--bcher-kva.test/admin/users')).to.equal(true);
        });

        it('cannot remove an operator’s block, and keeps its own when the operator’s is removed', async () => {
            await world.app.db.transaction((trx) => sites.blockDomain(trx, SHOP, 'asked by mail'));
            dataOf(await put({}));
            expect(codeOf(await product())).to.equal('SITE_BLOCKED');
            dataOf(await put({ blocked: true }));
            await world.app.db.transaction((trx) => sites.unblockDomain(trx, SHOP));
            expect(codeOf(await product())).to.equal('SITE_BLOCKED');
        });

        it('allows reads only', async () => {
            dataOf(await put({ writes: false }));
            const order = { endpoint: 'order', params: { product: 3, note: 'with care' } };
            expect(codeOf(await product(order))).to.equal('SITE_BLOCKED');
            expect(codeOf(await product({ ...order, dry_run: true }))).to.equal('SITE_BLOCKED');
            const saidToRead = { endpoint: 'graphql', params: { q: 'mutation' } };
            expect(codeOf(await product(saidToRead)), 'a POST of a contributor').to.equal('SITE_BLOCKED');
            dataOf(await product());
            expect(shop.seen.map(({ path }) => path)).to.deep.equal(['/products/1']);
        });

        it('blocks a path of the site, however it is spelled', async () => {
            dataOf(await put({ blocked_paths: [{ host: `${SHOP.toUpperCase()}.`, path_prefix: '/Products/' }] }));
            for (const answer of [await product(), await product({ dry_run: true })]) expect(codeOf(answer)).to.equal('SITE_BLOCKED');
            expect(shop.seen).to.deep.equal([]);
        });

        it('slows all calls down; the stricter rate of owner and operator applies', async () => {
            await world.app.db.transaction((trx) => sites.setDomain(trx, SHOP, { rate: 50 }));
            dataOf(await put({ requests_per_minute: 1 }));
            dataOf(await product());
            const second = await product({ timeout_ms: 3000 });
            expect([second.status, codeOf(second)]).to.deep.equal([503, 'SITE_UNAVAILABLE']);
            expect(shop.seen).to.have.length(1);
        });

        it('shares the site with an operator’s policy: the stricter of both applies, and each removes only its own', async () => {
            const { db } = world.app;
            const now = new Date(world.app.clock.now());
            const hour = (add: number) => `${String((now.getUTCHours() + add + 24) % 24).padStart(2, '0')}:00`;
            const codes = async (...calls: (() => Promise<Answer>)[]) => {
                const seen = [];
                for (const call of calls) seen.push(codeOf(await call()));
                return seen;
            };
            const order = () => product({ endpoint: 'order', params: { product: 3, note: 'with care' } });
            const operator = (policy: Partial<SitePolicy> | null) =>
                db.transaction((trx) => setOperatorPolicy(trx, SHOP, policy && { ...NO_POLICY, ...policy }));

            await operator({ writes: false });
            dataOf(await put({ blocked_paths: [{ host: SHOP, path_prefix: '/products' }] }));
            expect(await codes(order, product)).to.deep.equal(['SITE_BLOCKED', 'SITE_BLOCKED']);
            dataOf(await put({ writes: true }));
            expect(await codes(order, product), 'the owner lifts only its own').to.deep.equal(['SITE_BLOCKED', undefined]);
            await operator({ hours: { from: hour(2), to: hour(4), timezone: 'UTC' } });
            dataOf(await put({ hours: { from: hour(3), to: hour(5), timezone: 'UTC' } }));
            const closed = await product();
            expect(codeOf(closed)).to.equal('SITE_UNAVAILABLE');
            expect(Number(closed.headers.get('retry-after')), 'when both are open').to.be.within(2 * 3600, 3 * 3600);
            dataOf(await put({}));
            expect(await codes(product), 'the operator stays').to.deep.equal(['SITE_UNAVAILABLE']);
            await operator({ requests_per_minute: 1 });
            dataOf(await put({ requests_per_minute: 6000 }));
            expect(await codes(product, () => product({ timeout_ms: 3000 }))).to.deep.equal([undefined, 'SITE_UNAVAILABLE']);
            await operator(null);
            expect(dataOf(await owner.call('GET', `/v1/sites/${SHOP}/policy`)), 'the owner sees its own').to.include({
                requests_per_minute: 6000,
            });
        });

        it('sets hours, outside of which callers learn when to come again', async () => {
            const now = new Date(world.app.clock.now());
            const hour = (add: number) => `${String((now.getUTCHours() + add) % 24).padStart(2, '0')}:00`;
            dataOf(await put({ hours: { from: hour(2), to: hour(4), timezone: 'UTC' } }));
            const closed = await product();
            expect([closed.status, codeOf(closed)]).to.deep.equal([503, 'SITE_UNAVAILABLE']);
            expect(Number(closed.headers.get('retry-after'))).to.be.within(3600, 7200);
            dataOf(await put({ hours: { from: hour(23), to: hour(2), timezone: 'UTC' } }));
            dataOf(await product());
        });

        it('alone reads and sets the policy; a maintainer without proof learns what to do', async () => {
            for (const answer of [await put({ blocked: true }, contributor), await contributor.call('GET', `/v1/sites/${SHOP}/policy`)]) {
                expect([answer.status, codeOf(answer)]).to.deep.equal([403, 'CLAIM_REQUIRED']);
                expect((answer.body['error'] as { message: string }).message).to.include(`POST /v1/sites/${SHOP}/claims`);
            }
            expect(dataOf(await owner.call('GET', `/v1/sites/${SHOP}/policy`))).to.deep.equal(NO_POLICY);
        });

        it('gets an error for foreign hosts, unknown time zones and empty hours', async () => {
            for (const wrong of [
                { blocked_paths: [{ host: 'elsewhere.test', path_prefix: '/' }] },
                { hours: { from: '09:00', to: '09:00', timezone: 'UTC' } },
                { hours: { from: '09:00', to: '10:00', timezone: 'Moon/Base' } },
                { hours: { from: '24:00', to: '10:00', timezone: 'UTC' } },
                { hours: { from: '09:00', to: '10:00', timezone: '+01:15' } },
                { requests_per_minute: 0 },
            ])
                expect(codeOf(await put(wrong)), JSON.stringify(wrong)).to.equal('VALIDATION_ERROR');
        });

        it('cannot change its policy after it lost the proof; what it blocked stays blocked', async () => {
            dataOf(await put({ blocked: true }));
            const [claim] = dataOf<{ claim_id: string }[]>(await owner.call('GET', `/v1/sites/${SHOP}/claims`));
            dataOf(await owner.call('DELETE', `/v1/sites/${SHOP}/claims/${claim?.claim_id}`));
            expect(codeOf(await put({}))).to.equal('CLAIM_REQUIRED');
            expect(codeOf(await product())).to.equal('SITE_BLOCKED');
        });

        it('is mailed every version, once an hour with the others listed; yanks and maintainers are mailed and audited', async () => {
            for (const title of ['Second', 'Third', 'Fourth']) dataOf(await contributor.publish(shopPackage(shop.port, { title })));
            dataOf(await contributor.call('POST', `/v1/schemas/${SHOP}/versions/2/yank`, { body: { reason: 'broken' } }));
            dataOf(await owner.call('PUT', `${maintainers}/${caller.workspaceId}`));
            dataOf(await owner.call('DELETE', `${maintainers}/${caller.workspaceId}`));
            const linesOf = async ({ workspaceId }: Person) => {
                const { rows } = await world.app.db.raw<{ rows: { line: string }[] }>(
                    'select line from workspace_news where workspace_id = ? order by id',
                    [workspaceId],
                );
                return rows.map(({ line }) => line);
            };
            const added = `Workspace ${caller.workspaceId} maintains ${SHOP} from now on.`;
            const removed = `Workspace ${caller.workspaceId} no longer maintains ${SHOP}.`;
            expect(await linesOf(owner)).to.deep.equal([
                ...[2, 3, 4].map((version) => `Version ${version} of ${SHOP} was published.`),
                `Version 2 of ${SHOP} was taken out of use (broken).`,
                added,
                removed,
            ]);
            expect(await linesOf(contributor)).to.deep.equal([`Version 2 of ${SHOP} was taken out of use (broken).`]);
            const leaving = `Workspace ${owner.workspaceId} added it. It may leave at any time. If it is the only maintainer by then, it has to add another one first.`;
            expect(await linesOf(caller)).to.deep.equal([`${added} ${leaving}`, removed]);
            const acts = dataOf<{ action: string; target: string }[]>(await owner.call('GET', '/v1/audit'));
            expect(acts.map(({ action }) => action)).to.include.members(['maintainer.added', 'maintainer.removed']);
        });

        it('takes over the maintainers, and none of them can remove it', async () => {
            const removed = await contributor.call('DELETE', `${maintainers}/${owner.workspaceId}`);
            expect([removed.status, codeOf(removed)]).to.deep.equal([403, 'FORBIDDEN']);
            dataOf(await owner.call('DELETE', `${maintainers}/${contributor.workspaceId}`));
            expect(codeOf(await contributor.publish(shopPackage(shop.port, { title: 'Mine' })))).to.equal('NOT_MAINTAINER');
        });
    });
}

describe('an owner’s policy', () => {
    it('applies to every spelling of a path', () => {
        const paths = [{ host: 'shop.test', path_prefix: '/admin/' }];
        for (const path of [
            '/admin/',
            '/admin/x',
            '/ADMIN/x',
            '/%61dmin/x',
            '//admin/x',
            '/a/../admin/x',
            '/admin%2fx',
            '/a/%2e%2e/admin/x',
            '/;/admin/x',
            '/a/..;/admin/x',
            '/a/..%3bx/admin/x',
            '/a%3F%2F..%2Fadmin%2Fx',
            '/a%23%2F..%2Fadmin%2Fx',
        ])
            expect(isPathBlocked(paths, `https://shop.test${path}`), path).to.equal(true);
        expect(isPathBlocked(paths, 'https://shop.test./admin/x')).to.equal(true);
        for (const url of ['https://shop.test/administration', 'https://shop.test/', 'https://other.shop.test/admin/'])
            expect(isPathBlocked(paths, url), url).to.equal(false);
    });

    it('is the strictest of all policies, part by part', () => {
        expect(strictest([null, null])).to.equal(null);
        const path = { host: 'shop.test', path_prefix: '/a' };
        const hours = { from: '09:00', to: '17:00', timezone: 'UTC' };
        const one = { ...NO_POLICY, writes: false, blocked_paths: [path], requests_per_minute: 60 };
        const other = { ...NO_POLICY, blocked: true, requests_per_minute: 30, hours };
        const both = { blocked: true, writes: false, blocked_paths: [path], requests_per_minute: 30, hours: [hours] };
        expect(strictest([one, other])).to.deep.equal(both);
        expect(strictest([other, one])).to.deep.equal(both);
        expect(strictest([null, one])).to.deep.equal({ ...one, hours: [] });
    });

    it('opens when all hours overlap, and tomorrow if they never do', () => {
        const at = (time: string) => Date.parse(`2026-06-01T${time}:00Z`);
        const day = { from: '08:00', to: '18:00', timezone: 'UTC' };
        const late = { from: '16:00', to: '23:00', timezone: 'UTC' };
        const night = { from: '20:00', to: '06:00', timezone: 'UTC' };
        expect(secondsUntilAllOpen([], at('03:00'))).to.equal(0);
        expect(secondsUntilAllOpen([day, late], at('03:00'))).to.equal(13 * 3600);
        expect(secondsUntilAllOpen([late, day], at('17:00'))).to.equal(0);
        expect(secondsUntilAllOpen([day, late], at('19:00'))).to.equal(21 * 3600);
        expect(secondsUntilAllOpen([night, late], at('19:00'))).to.equal(3600);
        expect(secondsUntilAllOpen([day, night], at('19:00'))).to.equal(24 * 3600);
    });

    it('opens at the local time of its zone, also after midnight', () => {
        const at = (time: string) => Date.parse(`2026-06-01T${time}:00Z`);
        const night = { from: '22:00', to: '06:00', timezone: 'Europe/Berlin' };
        expect(secondsUntilOpen(night, at('19:59'))).to.equal(60);
        expect(secondsUntilOpen(night, at('20:00'))).to.equal(0);
        expect(secondsUntilOpen(night, at('03:59'))).to.equal(0);
        expect(secondsUntilOpen(night, at('04:00'))).to.equal(16 * 3600);
    });
});
