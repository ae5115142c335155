import { expect } from 'chai';
import type { AuditEntry } from '../../shared/contracts/audit.ts';
import type { CatalogAnswer } from '../../shared/contracts/catalog.ts';
import type { SitePolicy } from '../../shared/domain/site/site-policy.ts';
import { endCheck } from '../../shared/store/registry/claim-checks.ts';
import { setPolicy } from '../../shared/store/registry/site-policies.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { aProvenClaim, codeOf, dataOf, INTENT } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

describe('an owner’s policy', () => {
    let world: World;
    let shop: Shop;
    let owner: Person;
    let caller: Person;
    let claimId: string;

    beforeEach(async () => {
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        [owner, caller] = await Promise.all([join(world), join(world, { plan: 'pro', credits: 1000 })]);
        claimId = await aProvenClaim(world, owner, SHOP);
        dataOf(await owner.publish(shopPackage(shop.port)));
    });
    afterEach(async () => {
        await world.close();
        await shop.close();
    });

    const put = async (policy: Partial<SitePolicy>) => dataOf(await owner.call('PUT', `/v1/sites/${SHOP}/policy`, { body: policy }));
    const lookUp = async () => {
        const { status, body } = await caller.call('GET', `/v1/catalog/${SHOP}?intent=${encodeURIComponent(INTENT)}`);
        expect(status).to.equal(200);
        const { endpoints, schema } = body as unknown as CatalogAnswer;
        return { names: endpoints.map(({ name }) => name), refused: schema.refused_by_owner };
    };
    const notAllowedOnPage = async () => {
        const html = await (await globalThis.fetch(`${world.base}/registry/${SHOP}`)).text();
        return [...html.matchAll(/<article class="card endpoint" id="(\w+)">(?:(?!<\/article>).)*>not allowed</gs)].map(([, name]) => name);
    };
    const publishByAnother = async () => {
        const contributor = await join(world);
        dataOf(await owner.call('PUT', `/v1/schemas/${SHOP}/maintainers/${contributor.workspaceId}`));
        dataOf(await contributor.publish(shopPackage(shop.port, { title: 'Theirs' })));
    };
    const all = shopPackage(0).endpoints.map(({ name }) => name);
    const fetch = (endpoint: string, params: object, more: object = {}, key?: string): Promise<Answer> =>
        caller.call('POST', '/v1/fetch', {
            body: { site: SHOP, endpoint, params, ...more },
            headers: key === undefined ? {} : { 'idempotency-key': key },
        });
    const hour = (add: number) => `${String((new Date(world.app.clock.now()).getUTCHours() + add) % 24).padStart(2, '0')}:00`;
    const closed = () => ({ hours: { from: hour(2), to: hour(4), timezone: 'UTC' } });

    describe('limits the catalog', () => {
        it('to everything at first, and again when the policy is removed', async () => {
            const first = await lookUp();
            expect(first.names).to.have.members(all);
            expect(first.refused).to.equal(undefined);
            await put({ writes: false, blocked_paths: [{ host: SHOP, path_prefix: '/' }] });
            expect(await lookUp()).to.deep.equal({ names: [], refused: all.length });
            await put({});
            expect((await lookUp()).names).to.have.members(all);
        });

        it('to what cannot change the site if writes are forbidden, and says how many endpoints are left out', async () => {
            await put({ writes: false });
            const { names, refused } = await lookUp();
            expect(names).to.include.members(['product', 'search', 'graphql']).and.not.include.members(['order', 'held_write']);
            expect(refused).to.equal(all.length - names.length);
        });

        it('to no POST of versions that others published, whatever they say and whatever was verified', async () => {
            await publishByAnother();
            await world.app.db.raw("update versions set verified_at = app_now(), passed_endpoints = '{graphql}'");
            dataOf(await fetch('graphql', { q: 'shoes' }, { dry_run: true }));
            await put({ writes: false });
            expect((await lookUp()).names)
                .to.include('product')
                .and.not.to.include('graphql');
            expect(codeOf(await fetch('graphql', { q: 'shoes' }, { dry_run: true }))).to.equal('SITE_BLOCKED');
            expect(await notAllowedOnPage()).to.include('graphql');
            dataOf(await owner.publish(shopPackage(shop.port, { title: 'Ours' })));
            expect((await lookUp()).names).to.include('graphql');
            expect(await notAllowedOnPage()).to.not.include('graphql');
            dataOf(await fetch('graphql', { q: 'shoes' }, { dry_run: true }));
        });

        it('to endpoints that may call paths that are not blocked', async () => {
            await put({
                blocked_paths: [
                    { host: SHOP, path_prefix: '/PRODUCTS/' },
                    { host: SHOP, path_prefix: '/status/500' },
                    { host: `www.${SHOP}`, path_prefix: '/search' },
                ],
            });
            const { names, refused } = await lookUp();
            expect(all.filter((name) => !names.includes(name))).to.deep.equal(['product', 'not_hosted']);
            expect(refused).to.equal(2);
            expect(codeOf(await fetch('status', { code: 500 }))).to.equal('SITE_BLOCKED');
        });

        it('also for packages of megabytes', async () => {
            const [first] = shopPackage(shop.port).endpoints;
            const many = Array.from({ length: 400 }, (_, index) => ({
                ...first,
                name: `product_${index}`,
                description: 'word '.repeat(200),
                url: `http://${SHOP}:${shop.port}/${index % 2 === 0 ? 'products' : 'things'}/{id}`,
            }));
            dataOf(await owner.publish(shopPackage(shop.port, { endpoints: many as never })));
            await put({ blocked_paths: [{ host: SHOP, path_prefix: '/things' }] });
            const { names, refused } = await lookUp();
            expect([names.length, refused]).to.deep.equal([200, 200]);
            expect(names.every((name) => Number(name.slice(8)) % 2 === 0)).to.equal(true);
        });

        it('and applies hours: a caller outside of them learns when to come again', async () => {
            await put(closed());
            expect((await lookUp()).names).to.have.members(all);
        });
    });

    describe('applies to replayed responses', () => {
        const refusedNow = async (again: () => Promise<Answer>, policy: Partial<SitePolicy>, code: string) => {
            await put(policy);
            expect(codeOf(await again()), JSON.stringify(policy)).to.equal(code);
            await put({});
            const { status, headers } = await again();
            expect([status, headers.get('idempotent-replayed')]).to.deep.equal([200, 'true']);
        };

        it('under an Idempotency-Key', async () => {
            const read = () => fetch('product', { id: 1 }, {}, 'read');
            const write = () => fetch('order', { product: 3 }, {}, 'write');
            for (const call of [read, write]) dataOf(await call());
            await refusedNow(read, { blocked_paths: [{ host: SHOP, path_prefix: '/products' }] }, 'SITE_BLOCKED');
            await refusedNow(write, { writes: false }, 'SITE_BLOCKED');
            for (const call of [read, write]) await refusedNow(call, closed(), 'SITE_UNAVAILABLE');
            await put({ writes: false, blocked_paths: [{ host: SHOP, path_prefix: '/echo' }] });
            expect((await read()).headers.get('idempotent-replayed'), 'what is still allowed').to.equal('true');
            expect(shop.seen, 'nothing is sent again').to.have.length(2);
        });

        it('under an Idempotency-Key of an endpoint that was removed, if it cannot be classified any more', async () => {
            const read = () => fetch('product', { id: 1 }, {}, 'gone');
            dataOf(await read());
            const { endpoints } = shopPackage(shop.port);
            dataOf(await owner.publish(shopPackage(shop.port, { endpoints: endpoints.filter(({ name }) => name !== 'product') })));
            await put({ requests_per_minute: 60 });
            expect((await read()).headers.get('idempotent-replayed')).to.equal('true');
            await refusedNow(read, { writes: false }, 'SITE_BLOCKED');
            await refusedNow(read, closed(), 'SITE_UNAVAILABLE');
        });

        it('under an Idempotency-Key whose params today’s version refuses', async () => {
            const read = () => fetch('product', { id: 1 }, {}, 'other');
            dataOf(await read());
            const [product, ...rest] = shopPackage(shop.port).endpoints;
            const params = [{ name: 'id', source: 'path', required: true, schema: { type: 'integer', minimum: 100 } }] as const;
            dataOf(await owner.publish(shopPackage(shop.port, { endpoints: [{ ...product, params: [...params] } as never, ...rest] })));
            expect((await read()).headers.get('idempotent-replayed')).to.equal('true');
            await refusedNow(read, { blocked_paths: [{ host: SHOP, path_prefix: '/admin' }] }, 'SITE_BLOCKED');
        });

        it('by max_age', async () => {
            const read = () => fetch('product', { id: 2 }, { max_age: 3600 });
            dataOf(await read());
            expect((await read()).body['meta']).to.include({ cached: true });
            await put({ blocked_paths: [{ host: SHOP, path_prefix: '/products' }] });
            expect(codeOf(await read())).to.equal('SITE_BLOCKED');
            await put(closed());
            expect(codeOf(await read())).to.equal('SITE_UNAVAILABLE');
            const said = () => fetch('graphql', { q: 'all' }, { max_age: 3600 });
            await put({});
            await publishByAnother();
            dataOf(await said());
            await put({ writes: false });
            expect(codeOf(await said())).to.equal('SITE_BLOCKED');
        });
    });

    it('delays with its hours jobs, batches and monitors, which are accepted at any time', async () => {
        await put(closed());
        const product = { site: SHOP, endpoint: 'product' };
        const ordered = async (path: string, body: object) => {
            const answer = await caller.call('POST', path, { body: { ...body, expires_in: 86_400 } });
            expect(answer.status, path).to.equal(202);
        };
        await ordered('/v1/jobs', { ...product, params: { id: 1 } });
        await ordered('/v1/batches', { defaults: product, items: [{ params: { id: 2 } }] });
        const monitor = { ...product, params: { id: 3 }, every: '1h' };
        const made = dataOf<{ monitor_id: string }>(await caller.call('POST', '/v1/monitors', { body: monitor }));
        dataOf(await caller.call('PATCH', `/v1/monitors/${made.monitor_id}`, { body: { params: { id: 4 }, status: 'paused' } }));
        const jobs = async () => dataOf<{ status: string; waiting_for: string | null }[]>(await caller.call('GET', '/v1/jobs'));
        await eventually(jobs, (rows) => rows.length === 2 && rows.every(({ waiting_for: reason }) => reason === 'site'));
        expect(shop.seen, 'while the site is closed').to.deep.equal([]);
        await world.clock.advance({ hours: 2 });
        await eventually(jobs, (rows) => rows.every(({ status }) => status === 'succeeded'));
    });

    describe('is in the audit of its workspace', () => {
        const acts = async () => dataOf<AuditEntry[]>(await owner.call('GET', '/v1/audit'));

        it('with the changed parts, whoever changed them, and not if nothing changed', async () => {
            const hours = { from: '08:00', to: '18:00', timezone: 'Europe/Berlin' };
            await put({ writes: false, requests_per_minute: 60, hours, blocked_paths: [{ host: SHOP, path_prefix: '/admin' }] });
            await put({ writes: false, requests_per_minute: 60, hours, blocked_paths: [{ host: SHOP, path_prefix: '/admin' }] });
            await put({ blocked: true });
            await world.app.db.transaction((trx) => setPolicy(trx, SHOP, null));
            const changed = (await acts()).filter(({ action }) => action === 'policy.changed');
            expect(changed.map(({ actor, target, details }) => [actor.slice(0, 4), target, details])).to.deep.equal([
                ['oper', SHOP, { blocked: false }],
                [
                    'key_',
                    SHOP,
                    { blocked: true, writes: true, blocked_paths_removed: [`${SHOP}/admin`], requests_per_minute: null, hours: null },
                ],
                [
                    'key_',
                    SHOP,
                    {
                        writes: false,
                        blocked_paths_added: [`${SHOP}/admin`],
                        requests_per_minute: 60,
                        hours: '08:00 to 18:00 (Europe/Berlin)',
                    },
                ],
            ]);
        });

        it('with a hundred blocked paths, shortened', async () => {
            const paths = Array.from({ length: 100 }, (_, index) => ({ host: SHOP, path_prefix: `/${index}/${'x'.repeat(900)}` }));
            await put({ blocked_paths: paths });
            const [{ details }] = (await acts()) as [AuditEntry];
            expect(details['blocked_paths_added']).to.have.length(21).and.to.include('and 80 more');
            expect(JSON.stringify(details).length).to.be.below(6000);
        });

        it('with the claim: made, proved, not found again, lost and deleted', async () => {
            const other = dataOf<{ claim_id: string }>(await owner.call('POST', '/v1/sites/other.test/claims')).claim_id;
            const { db } = world.app;
            await endCheck(db, other, { result: 'failed', reason: 'Nothing there.' });
            await endCheck(db, other, { result: 'proven', method: 'file' });
            for (let failure = 1; failure <= 3; failure++) await endCheck(db, other, { result: 'failed', reason: 'Gone.' });
            dataOf(await owner.call('DELETE', `/v1/sites/other.test/claims/${other}`));
            dataOf(await owner.call('DELETE', `/v1/sites/${SHOP}/claims/${claimId}`));
            const entries = (await acts()).filter(({ action }) => action.startsWith('claim.')).reverse();
            expect(entries.map(({ action, actor, target, details }) => [action, actor.slice(0, 4), target, details])).to.deep.equal([
                ['claim.created', 'key_', SHOP, { claim_id: claimId }],
                ['claim.created', 'key_', 'other.test', { claim_id: other }],
                ['claim.proved', 'syst', 'other.test', { claim_id: other, method: 'file' }],
                ['claim.recheck_failed', 'syst', 'other.test', { claim_id: other, failures: 1, reason: 'Gone.' }],
                ['claim.recheck_failed', 'syst', 'other.test', { claim_id: other, failures: 2, reason: 'Gone.' }],
                ['claim.lost', 'syst', 'other.test', { claim_id: other, failures: 3, reason: 'Gone.' }],
                ['claim.deleted', 'key_', 'other.test', { claim_id: other, was_proven: false }],
                ['claim.deleted', 'key_', SHOP, { claim_id: claimId, was_proven: true }],
            ]);
            expect(entries.map(({ ip }) => ip !== null)).to.deep.equal([true, true, false, false, false, false, true, true]);
        });
    });
});
