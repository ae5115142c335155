import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import { changePlan } from '../../shared/store/credits/accounts.ts';
import { lockMonitor, type MonitorRow } from '../../shared/store/monitors/monitors.ts';
import { addEndedRun } from '../../shared/store/monitors/runs.ts';
import { sealText } from '../../shared/store/monitors/sealed.ts';
import { blockDomain, unblockDomain } from '../../shared/store/registry/sites.ts';
import { beginDueRun } from '../../workers/monitors/begin-due-run.ts';
import { endRun } from '../../workers/monitors/end-run.ts';
import type { Reader, ReadingTurn } from '../../workers/select/reader.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, paginationOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { scopedKey } from '../support/scopes.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'prices.test';

interface Monitor {
    monitor_id: string;
    status: string;
    paused_reason: string | null;
    next_run_at: string | null;
    failures: number;
    last_run: { status: string; changed: boolean | null; error: { code: string } | null } | null;
}

interface Run {
    run_id: string;
    status: string;
    skipped_reason: string | null;
    changed: boolean | null;
    job_id: string | null;
    due_at: string | null;
}

interface Change {
    change_id: string;
    diff: { added: unknown[]; removed: unknown[]; changed: { path: string; before: unknown; after: unknown }[] };
    before_run: string;
    after_run: string;
}

describe('a monitor', () => {
    let world: World;
    let site: Server;
    let ada: Person;
    let items: object[] = [];
    let status = 200;
    let calls = 0;
    /** While this is pending, the site holds its responses. */
    let held = Promise.resolve();

    before(async () => {
        site = createServer(async (_request, response) => {
            calls += 1;
            await held;
            response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ items }));
        }).listen(0, '127.0.0.1');
        await once(site, 'listening');
        const { port } = site.address() as AddressInfo;
        world = await openWorld({ workers: 2, config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        ada = await join(world, { plan: 'pro' });
        const base = `http://${SITE}:${port}`;
        const endpoints = [
            anEndpoint(SITE, { name: 'list', url: `${base}/list`, params: [] }),
            anEndpoint(SITE, { name: 'order', method: 'POST', url: `${base}/order`, effect: 'write', params: [] }),
        ];
        dataOf(await ada.publish(aPackage(SITE, { endpoints })));
    });
    beforeEach(() => {
        items = [{ id: 1, price: 5 }];
        status = 200;
        calls = 0;
    });
    after(async () => {
        await world.close();
        site.close();
    });

    const order = (more: object = {}, person = ada) =>
        person.call('POST', '/v1/monitors', { body: { site: SITE, endpoint: 'list', every: '1h', ...more } });
    const at = (monitor: Monitor, more = '') => `/v1/monitors/${monitor.monitor_id}${more}`;
    const read = async (monitor: Monitor, person = ada) => dataOf<Monitor>(await person.call('GET', at(monitor)));
    const runsOf = async (monitor: Monitor) => dataOf<Run[]>(await ada.call('GET', at(monitor, '/runs?limit=100')));
    const changesOf = async (monitor: Monitor) => dataOf<Change[]>(await ada.call('GET', at(monitor, '/changes')));
    const eventsOf = async (monitor: Monitor) =>
        (await world.app.db('events').whereIn('type', ['monitor.changed', 'monitor.failing']).orderBy('at'))
            .map(({ type, data }) => ({ type: type as string, ...(JSON.parse(data) as Record<string, unknown>) }))
            .filter((event) => (event as { monitor_id?: unknown }).monitor_id === monitor.monitor_id);
    const ended = (monitor: Monitor, count: number) =>
        eventually(
            // Reads the database, since the route would use up its rate limit.
            async (): Promise<{ status: string }[]> =>
                world.app.db('monitor_runs').where({ monitor_id: monitor.monitor_id }).select('status'),
            (all) => all.length === count && all.every((run) => run.status !== 'running'),
            20_000,
        );
    const made = async (more: object = {}) => {
        const monitor = dataOf<Monitor>(await order(more));
        await ended(monitor, 1);
        return monitor;
    };
    let runs = 0;
    const again = async (monitor: Monitor) => {
        runs = (await runsOf(monitor)).length;
        const answer = await ada.call('POST', at(monitor, '/run'));
        expect(dataOf(answer)).not.to.have.property('params');
        expect(answer.status).to.equal(202);
        expect(dataOf(answer)).to.include({ monitor_id: monitor.monitor_id });
        await ended(monitor, runs + 1);
    };
    const remove = async (monitor: Monitor) => {
        expect(dataOf(await ada.call('DELETE', at(monitor)))).to.deep.equal({ monitor_id: monitor.monitor_id, deleted: true });
    };

    it('runs at once, sets its baseline and reports nothing', async () => {
        const answer = await order({ name: 'Prices', metadata: { mine: 'red' } });
        expect(answer.status).to.equal(201);
        const monitor = dataOf<Monitor>(answer);
        expect(monitor).to.deep.include({ status: 'active', paused_reason: null, failures: 0, when: 'changed', metadata: { mine: 'red' } });
        await ended(monitor, 1);
        const later = await read(monitor);
        expect(later.last_run).to.include({ status: 'succeeded', changed: null, credits_used: 1 });
        expect(Date.parse(later.next_run_at ?? '') - Date.now()).to.be.within(3_500_000, 3_640_000);
        expect(await changesOf(monitor)).to.deep.equal([]);
        expect(await eventsOf(monitor)).to.deep.equal([]);
        await remove(monitor);
        expect(codeOf(await ada.call('GET', at(monitor)))).to.equal('MONITOR_NOT_FOUND');
    });

    it('reports added, removed and changed items by their ids, and ignores their order', async () => {
        const monitor = await made({ identity: 'id' });
        items = [
            { id: 2, price: 1 },
            { id: 1, price: 6 },
        ];
        await again(monitor);
        items = [
            { id: 1, price: 6 },
            { id: 2, price: 1 },
        ];
        await again(monitor);
        items = [{ id: 2, price: 1 }];
        await again(monitor);
        const [second, first, ...others] = await changesOf(monitor);
        expect(others).to.deep.equal([]);
        expect(first?.diff).to.deep.equal({
            added: [{ id: 2, price: 1 }],
            removed: [],
            changed: [{ path: '/items/1/price', before: 5, after: 6 }],
        });
        expect(second?.diff).to.deep.equal({ added: [], removed: [{ id: 1, price: 6 }], changed: [] });
        expect((await runsOf(monitor)).map(({ changed }) => changed)).to.deep.equal([true, false, true, null]);
        expect((await eventsOf(monitor)).map(({ type }) => type)).to.deep.equal(['monitor.changed', 'monitor.changed']);
        const feed = await ada.call('GET', '/v1/events?types=monitor.changed&limit=100');
        const told = dataOf<{ data: { change_id: string; diff?: object } }[]>(feed).filter(
            ({ data }) => data.change_id === first?.change_id,
        );
        expect(told.map(({ data }) => data.diff)).to.deep.equal([first?.diff]);
        const { job_id: job } = (await runsOf(monitor))[0] as Run;
        expect(await world.app.db('events').where({ about: job })).to.deep.equal([]);
        const kept = await world.app.db('monitor_runs').where({ monitor_id: monitor.monitor_id }).whereNotNull('value');
        expect(kept).to.have.length(2);
        await remove(monitor);
    });

    it('reports each run with always, and by an expression', async () => {
        const always = await made({ when: 'always', metadata: { mine: 'red' } });
        await again(always);
        const [told, ...others] = await eventsOf(always);
        expect(told).to.deep.include({ changed: false, metadata: { mine: 'red' } });
        expect(others).to.deep.equal([]);
        await remove(always);
        const cheap = await made({ watch: 'items[0].price', when: { expression: 'after < `3`' } });
        items = [{ id: 1, price: 4 }];
        await again(cheap);
        expect(await eventsOf(cheap)).to.deep.equal([]);
        items = [{ id: 1, price: 2 }];
        await again(cheap);
        expect(await eventsOf(cheap)).to.have.length(1);
        // The history also has changes that were not reported.
        expect((await changesOf(cheap)).map(({ diff }) => diff.changed)).to.deep.equal([
            [{ path: '', before: 4, after: 2 }],
            [{ path: '', before: 5, after: 4 }],
        ]);
        await remove(cheap);
    });

    it('fails ten times, is reported once, runs less often, and recovers after a success', async () => {
        const monitor = await made({ metadata: { mine: 'red' } });
        status = 404;
        for (let failures = 1; failures <= 9; failures++) {
            await world.clock.advance({ hours: 1, minutes: 1 });
            await ended(monitor, failures + 1);
        }
        expect(await read(monitor)).to.include({ status: 'active', failures: 9 });
        await world.clock.advance({ hours: 1, minutes: 1 });
        await ended(monitor, 11);
        const failing = await read(monitor);
        expect(failing).to.include({ status: 'failing', failures: 10 });
        expect((Date.parse(failing.next_run_at ?? '') - world.app.clock.now()) / 3_600_000).to.be.within(1.5, 2.1);
        const [told, ...others] = await eventsOf(monitor);
        expect(told).to.deep.include({ type: 'monitor.failing', metadata: { mine: 'red' } });
        expect(others).to.deep.equal([]);
        expect(await changesOf(monitor)).to.deep.equal([]);
        status = 200;
        items = [];
        await again(monitor);
        expect(await read(monitor)).to.include({ status: 'active', failures: 0 });
        expect(await changesOf(monitor)).to.have.length(1);
        await remove(monitor);
    });

    it('sets a new baseline for other params, watch or identity, without a report', async () => {
        const monitor = await made();
        dataOf(await ada.call('PATCH', at(monitor), { body: { watch: 'items[].id' } }));
        await again(monitor);
        expect(await changesOf(monitor)).to.deep.equal([]);
        expect((await runsOf(monitor))[0]).to.include({ status: 'succeeded', changed: null });
        await remove(monitor);
    });

    it('does not compare a run with other runs if its watch changed meanwhile', async () => {
        const monitor = await made();
        const { promise, resolve } = Promise.withResolvers<void>();
        held = promise;
        expect((await ada.call('POST', at(monitor, '/run'))).status).to.equal(202);
        dataOf(await ada.call('PATCH', at(monitor), { body: { watch: 'items[].id' } }));
        resolve();
        await ended(monitor, 2);
        expect((await runsOf(monitor))[0]).to.include({ status: 'succeeded', changed: null });
        expect(await changesOf(monitor)).to.deep.equal([]);
        await remove(monitor);
    });

    it('fails if an expression does not match', async () => {
        const monitor = await made({ watch: 'sum(items)' });
        expect((await read(monitor)).last_run).to.deep.include({ status: 'failed' });
        expect((await read(monitor)).last_run?.error?.code).to.equal('UPSTREAM_INVALID_RESPONSE');
        await remove(monitor);
    });

    it('starts a new job by hand as soon as the job of its last run has ended', async () => {
        const monitor = await made();
        const { promise, resolve: release } = Promise.withResolvers<void>();
        held = promise;
        const first = dataOf<{ job_id: string }>(await ada.call('POST', at(monitor, '/run')));
        // A worker that takes its time to compare the result.
        const runsIn = () => world.app.db('monitor_runs').where({ monitor_id: monitor.monitor_id });
        await runsIn().update({ claimed_until: world.app.db.raw("fleet_now() + interval '1 hour'") });
        release();
        expect(dataOf(await ada.call('GET', `/v1/jobs/${first.job_id}?wait=10`))).to.include({ status: 'succeeded' });
        const asked = ada.call('POST', at(monitor, '/run'));
        await runsIn().update({ claimed_until: null });
        expect(dataOf<{ job_id: string }>(await asked).job_id).not.to.equal(first.job_id);
        await ended(monitor, 3);
        await remove(monitor);
    });

    it('skips runs that could exceed its daily credits', async () => {
        const monitor = await made({ max_credits_per_day: 1 });
        await world.clock.advance({ seconds: 1 });
        const answer = await ada.call('POST', at(monitor, '/run'));
        expect(answer.status).to.equal(202);
        const job = dataOf<{ job_id: string }>(answer);
        expect(job).to.include({ status: 'cancelled', monitor_id: monitor.monitor_id, credits_used: 0 });
        expect((await runsOf(monitor))[0]).to.include({
            status: 'skipped',
            skipped_reason: 'max_credits_per_day',
            job_id: job.job_id,
        });
        expect(await read(monitor)).to.include({ status: 'active', failures: 0 });
        expect(calls).to.equal(1);
        await remove(monitor);
    });

    it('holds its daily credits, and keeps its baseline, over more skipped runs than are stored', async () => {
        const monitor = await made({ max_credits_per_day: 1 });
        const { db } = world.app;
        const { base } = await db('monitors').where({ monitor_id: monitor.monitor_id }).first('base');
        for (let count = 0; count < 110; count++) {
            const run = { runId: newId('run'), monitorId: monitor.monitor_id, base, dueAt: null };
            await db.transaction((trx) => addEndedRun(trx, run, { status: 'skipped', reason: 'max_credits_per_day' }));
        }
        expect(await runsOf(monitor)).to.have.length(100);
        expect(dataOf(await ada.call('POST', at(monitor, '/run')))).to.include({ status: 'cancelled' });
        expect(calls).to.equal(1);
        items = [];
        await world.clock.advance({ days: 1 });
        await eventually(
            () => changesOf(monitor),
            (changes) => changes.length === 1,
            20_000,
        );
        expect(await runsOf(monitor)).to.have.length(100);
        await remove(monitor);
    });

    it('is paused and resumed, and pauses if its key or its site is gone', async () => {
        const monitor = await made();
        expect(dataOf(await ada.call('PATCH', at(monitor), { body: { status: 'paused' } }))).to.include({
            status: 'paused',
            paused_reason: null,
            next_run_at: null,
        });
        expect(dataOf<Monitor>(await ada.call('PATCH', at(monitor), { body: { status: 'active' } })).next_run_at).not.to.equal(null);
        await blockDomain(world.app.db, SITE, 'its owner asked');
        await world.clock.advance({ hours: 2 });
        await eventually(
            async () => (await read(monitor)).paused_reason,
            (reason) => reason === 'site_blocked',
            20_000,
        );
        await unblockDomain(world.app.db, SITE);
        const key = await createKey(world.app.db, { workspaceId: ada.workspaceId, userId: ada.userId, name: 'for a moment' });
        dataOf(await withKey(world, key.apiKey).call('PATCH', at(monitor), { body: { status: 'active' } }));
        await revokeKey(world.app.db, key.keyId);
        await world.clock.advance({ hours: 2 });
        await eventually(
            async () => (await read(monitor)).paused_reason,
            (reason) => reason === 'key',
            20_000,
        );
        await remove(monitor);
    });

    it('keeps a user’s changes while a run was about to begin', async () => {
        const monitor = await made();
        const { db } = world.app;
        /** The copy of a worker that claimed it as due. */
        const taken = async () => {
            const claim = newId('op');
            const until = db.raw("fleet_now() + interval '30 seconds'");
            await db('monitors').where({ monitor_id: monitor.monitor_id }).update({ claim, claimed_until: until });
            return { ...((await lockMonitor(db, monitor.monitor_id)) as MonitorRow), claim };
        };
        const begun = await taken();
        dataOf(await ada.call('PATCH', at(monitor), { body: { status: 'paused' } }));
        await beginDueRun(world.app, begun);
        expect(await read(monitor)).to.include({ status: 'paused', paused_reason: null, next_run_at: null });
        dataOf(await ada.call('PATCH', at(monitor), { body: { status: 'active' } }));

        const ofOldKey = { ...(await taken()), keyId: 'key_gone' };
        dataOf(await ada.call('PATCH', at(monitor), { body: { name: 'With a new key' } }));
        await beginDueRun(world.app, ofOldKey);
        expect(await read(monitor)).to.include({ status: 'active', paused_reason: null });

        const slow = await taken();
        const { next_run_at: daily } = dataOf<Monitor>(await ada.call('PATCH', at(monitor), { body: { every: '1d' } }));
        await beginDueRun(world.app, slow);
        expect((await read(monitor)).next_run_at).to.equal(daily);
        await remove(monitor);
    });

    it('gets another kind of schedule, also where null removes the first one, and never none', async () => {
        const monitor = dataOf<Monitor>(await order());
        const change = (body: object) => ada.call('PATCH', at(monitor), { body });
        const cron = await change({ every: null, cron: '0 8 * * *', timezone: null });
        expect(dataOf(cron)).to.include({ every: null, cron: '0 8 * * *', timezone: 'UTC' });
        expect(dataOf(await change({})), 'a PATCH alone makes the key the acting one').to.include({ cron: '0 8 * * *' });
        expect(detailsOf(await change({ cron: null }))).to.deep.equal(['/every REQUIRED']);
        expect(dataOf(await change({ every: '1d', cron: null, timezone: null }))).to.include({ every: '1d', cron: null, timezone: null });
        expect(detailsOf(await change({ every: null, cron: null }))).to.deep.equal(['/every REQUIRED']);
        expect(dataOf(await change({ cron: null }))).to.include({ every: '1d', cron: null });
    });

    it('loses with null what it has, and stays as it is with null for what it does not have', async () => {
        const more = { name: 'Prices', timeout_ms: 9000, max_credits: 8, watch: 'items', identity: 'id', max_credits_per_day: 5 };
        const monitor = dataOf<Monitor>(await order(more));
        const none = { version: null, max_results: null, max_pages: null, connection: null, cron: null, timezone: null };
        const nulls = { ...Object.fromEntries(Object.keys(more).map((field) => [field, null])), ...none };
        expect(dataOf(await ada.call('PATCH', at(monitor), { body: nulls }))).to.include({ ...nulls, every: '1h' });
        await remove(monitor);
    });

    it('is moved to another timezone without its cron expression, if it has one', async () => {
        const monitor = dataOf<Monitor>(await order({ every: undefined, cron: '0 8 * * *', timezone: 'Europe/Berlin' }));
        const move = (timezone: string) => ada.call('PATCH', at(monitor), { body: { timezone } });
        const moved = dataOf<Monitor>(await move('America/New_York'));
        expect(moved).to.include({ cron: '0 8 * * *', timezone: 'America/New_York' });
        expect(moved.next_run_at).not.to.equal(monitor.next_run_at);
        expect(detailsOf(await move('Mars/Olympus'))).to.deep.equal(['/timezone INVALID_VALUE']);
        dataOf(await ada.call('PATCH', at(monitor), { body: { every: '1d' } }));
        expect(detailsOf(await move('UTC'))).to.deep.equal(['/timezone INVALID_VALUE']);
        await remove(monitor);
    });

    it('keeps its timezone if only its cron expression changes', async () => {
        const monitor = dataOf<Monitor>(await order({ every: undefined, cron: '0 8 * * *', timezone: 'Asia/Tokyo' }));
        const change = (body: object) => ada.call('PATCH', at(monitor), { body });
        const later = dataOf<Monitor>(await change({ cron: '0 9 * * *' }));
        expect(later).to.include({ cron: '0 9 * * *', timezone: 'Asia/Tokyo' });
        expect(later.next_run_at).to.contain('T00:00:');
        expect(dataOf(await change({ cron: '0 9 * * *', timezone: null }))).to.include({ timezone: 'UTC' });
        await remove(monitor);
    });

    it('accepts two changes at once', async () => {
        const monitor = await made();
        const changes = [{ timeout_ms: 9000 }, { max_results: 7 }, { max_credits: 8 }, { every: '1d' }];
        const answers = await Promise.all(changes.map((body) => ada.call('PATCH', at(monitor), { body })));
        expect(answers.map(({ status: code }) => code)).to.deep.equal([200, 200, 200, 200]);
        expect(await read(monitor)).to.include(Object.assign({}, ...changes));
        await remove(monitor);
    });

    it('is limited by the plan in number and interval, and names the larger plan', async () => {
        const free = await join(world);
        const near = await order({ every: '15m' }, free);
        expect(near.status).to.equal(403);
        const message = 'On the free plan, the runs of a monitor must be at least 60 minutes apart.';
        expect(near.body['error']).to.include({ code: 'PLAN_LIMIT', upgrade_to: 'starter', message });
        for (let count = 0; count < 3; count++) dataOf(await order({ every: '1d' }, free));
        expect(codeOf(await order({ every: '1d' }, free))).to.equal('PLAN_LIMIT');
        expect(codeOf(await order({ every: undefined, cron: '*/30 * * * *' }, free))).to.equal('PLAN_LIMIT');
        for (const monitor of dataOf<Monitor[]>(await free.call('GET', '/v1/monitors'))) await free.call('DELETE', at(monitor));
    });

    it('is one of at most 50 of a person on Free, with those of colleagues that the person changed or ran', async () => {
        const [eve, bob] = [await join(world), await join(world)];
        await addMember(world.app.db, { workspaceId: eve.workspaceId, userId: bob.userId, role: 'member' });
        const ofBob = await scopedKey(world, { ...bob, workspaceId: eve.workspaceId }, {});
        const monitor = dataOf<Monitor>(await order({ every: '1d' }, eve));
        await world.app.db.raw(
            `insert into monitors (monitor_id, workspace_id, key_id, user_id, site, endpoint, needs, request, every, told_when, metadata, status)
             select monitor_id || n, workspace_id, key_id, ?, site, endpoint, needs, request, every, told_when, metadata, 'paused'
             from monitors, generate_series(1, 50) n where monitor_id = ?`,
            [bob.userId, monitor.monitor_id],
        );
        const change = { body: { name: 'mine now' } };
        expect(codeOf(await ofBob.call('PATCH', at(monitor), change))).to.equal('PLAN_LIMIT');
        expect(codeOf(await ofBob.call('POST', `${at(monitor)}/run`))).to.equal('PLAN_LIMIT');
        const oneOfBob = { ...monitor, monitor_id: `${monitor.monitor_id}1` };
        expect((await ofBob.call('PATCH', at(oneOfBob), change)).status).to.equal(200);
        await ofBob.call('DELETE', at(oneOfBob));
        expect((await ofBob.call('PATCH', at(monitor), change)).status).to.equal(200);
        await world.app.db('monitors').where({ user_id: bob.userId }).delete();
    });

    it('has the limit of its account if an operator set one, and the newest pause if that is lowered', async () => {
        const eve = await join(world, { plan: 'enterprise', overrides: { monitors: 2 } });
        const monitors = [dataOf<Monitor>(await order({ every: '1d' }, eve)), dataOf<Monitor>(await order({ every: '1d' }, eve))];
        const refused = await order({ every: '1d' }, eve);
        expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'PLAN_LIMIT']);
        expect((refused.body['error'] as { message: string }).message).to.include('2 monitors');
        await changePlan(world.app.db, eve.workspaceId, { plan: 'enterprise', planAllowance: 60_000, overrides: { monitors: 1 } });
        const newest = monitors.at(-1) as Monitor;
        await eventually(
            () => read(newest, eve),
            ({ status }) => status === 'paused',
            20_000,
        );
        expect([(await read(newest, eve)).paused_reason, (await read(monitors[0] as Monitor, eve)).status]).to.deep.equal([
            'plan',
            'active',
        ]);
        for (const monitor of monitors) await eve.call('DELETE', at(monitor));
    });

    for (const [title, more, details] of [
        ['without a schedule', { every: undefined }, ['/every REQUIRED']],
        ['with two schedules', { cron: '0 8 * * *' }, ['/cron INVALID_VALUE']],
        ['with a wrong cron', { every: undefined, cron: '0 25 * * *' }, ['/cron INVALID_VALUE']],
        ['in a timezone that is none', { every: undefined, cron: '0 8 * * *', timezone: 'Mars/Olympus' }, ['/timezone INVALID_VALUE']],
        ['more often than any plan allows', { every: '1m' }, ['/every INVALID_VALUE']],
        [
            'with wrong expressions',
            { watch: 'a[', identity: 'a b', when: { expression: '#' } },
            ['/watch INVALID_VALUE', '/identity INVALID_VALUE', '/when/expression INVALID_VALUE'],
        ],
        ['with an unknown time to tell', { when: 'sometimes' }, ['/when INVALID_VALUE']],
        ['that tells by no expression', { when: {} }, ['/when/expression REQUIRED']],
        ['with more than an expression', { when: { expression: 5, or: 1 } }, ['/when/expression INVALID_TYPE', '/when/or UNKNOWN_FIELD']],
        ['of a write', { endpoint: 'order' }, ['/endpoint INVALID_VALUE']],
        ['with max_age', { max_age: 5 }, ['/max_age UNKNOWN_FIELD']],
    ] as const) {
        it(`${title} is refused with the pointer`, async () => {
            const answer = await order(more);
            expect(answer.status).to.equal(400);
            expect(detailsOf(answer)).to.deep.equal(details);
        });
    }

    it('is refused like a fetch if its endpoint does not exist', async () => {
        expect(codeOf(await order({ endpoint: 'none' }))).to.equal('ENDPOINT_NOT_FOUND');
        expect(codeOf(await order({ site: 'nowhere.test' }))).to.equal('SITE_NOT_FOUND');
    });

    it('lists changes by pages of some MiB at most, each change once', async () => {
        const monitor = await made();
        const { db, secrets } = world.app;
        const ids = ['chg_1', 'chg_2', 'chg_3'];
        for (const change_id of ids) {
            const text = JSON.stringify({ added: ['x'.repeat(5_000_000)], removed: [], changed: [] });
            const place = { change_id, monitor_id: monitor.monitor_id, diff_truncated: false, before_run: 'run_1', after_run: 'run_2' };
            await db('monitor_changes').insert({ ...place, diff: await sealText(secrets, 'diff', text) });
        }
        const page = async (query: string) => {
            const answer = await ada.call('GET', at(monitor, `/changes?limit=100${query}`));
            return { ids: dataOf<{ change_id: string }[]>(answer).map(({ change_id }) => change_id), ...paginationOf(answer) };
        };
        const first = await page('');
        expect(first).to.deep.include({ ids: ['chg_3', 'chg_2'], total: 3 });
        expect(await page(`&cursor=${first.next_cursor}`)).to.deep.include({ ids: ['chg_1'], next_cursor: null, total: 3 });
        await remove(monitor);
    });

    it('of another workspace looks absent', async () => {
        const monitor = await made();
        const eve = await join(world);
        for (const [method, path] of [
            ['GET', ''],
            ['DELETE', ''],
            ['POST', '/run'],
            ['GET', '/runs'],
            ['GET', '/changes'],
        ] as const)
            expect(codeOf(await eve.call(method, at(monitor, path)))).to.equal('MONITOR_NOT_FOUND');
        await remove(monitor);
    });

    it('with params that cannot be decrypted is shown without them, fails its runs, and hides no other', async () => {
        const whole = await made({ params: {} });
        const lost = await made();
        const { db } = world.app;
        const id = { monitor_id: lost.monitor_id };
        const { promise, resolve } = Promise.withResolvers<void>();
        held = promise;
        expect((await ada.call('POST', at(lost, '/run'))).status).to.equal(202);
        await db('monitors')
            .where(id)
            .update({ request: Buffer.from('of a key that is gone') });
        resolve();
        await ended(lost, 2);
        const shown = dataOf<(Monitor & { params: object })[]>(await ada.call('GET', '/v1/monitors'));
        expect(shown.map(({ monitor_id, params }) => ({ monitor_id, params }))).to.deep.include.members([
            { monitor_id: lost.monitor_id, params: {} },
            { monitor_id: whole.monitor_id, params: {} },
        ]);
        expect((await read(lost)).last_run).to.deep.include({ status: 'failed' });
        expect((await read(lost)).last_run?.error?.code).to.equal('INTERNAL');
        await remove(lost);
        await remove(whole);
    });

    it('does not wait for another one that hangs', async () => {
        const [one, other, third] = [await made(), await made(), await made()];
        const ids = [one.monitor_id, other.monitor_id];
        const { promise, resolve } = Promise.withResolvers<void>();
        held = promise;
        for (const monitor of [one, other]) expect((await ada.call('POST', at(monitor, '/run'))).status).to.equal(202);
        const trx = await world.app.db.transaction();
        await trx('monitors').whereIn('monitor_id', ids).forUpdate();
        resolve();
        try {
            // Both workers have one that never ends.
            await eventually(
                () => world.app.db('monitor_runs').whereIn('monitor_id', ids).whereNotNull('claim'),
                (claimed) => claimed.length === 2,
            );
            await again(third);
        } finally {
            await trx.rollback();
        }
        for (const monitor of [one, other, third]) {
            await ended(monitor, 2);
            await remove(monitor);
        }
    });

    it('does not fail if its result waits too long to be compared', async () => {
        const monitor = await made();
        const [run] = await world.app
            .db('monitor_runs as r')
            .join('jobs as j', 'j.job_id', 'r.job_id')
            .where({ 'r.monitor_id': monitor.monitor_id })
            .select({
                ...{ runId: 'r.run_id', monitorId: 'r.monitor_id', base: 'r.base', dueAt: 'r.due_at', version: 'r.version' },
                ...{ versionId: 'j.version_id', jobStatus: 'j.status', result: 'j.result', remaining: 'j.remaining' },
            });
        let until = 0;
        const busy = {
            watch: (_order: unknown, turn?: ReadingTurn) => {
                until = turn?.deadlineAt ?? Number.POSITIVE_INFINITY;
                return Promise.resolve({ ok: false, code: 'UPSTREAM_TIMEOUT', message: 'It waited.', details: [] });
            },
        } as unknown as Reader;
        const end = endRun(world.app, busy, { ...run, claim: newId('op'), code: null, error: null, creditsUsed: 1 });
        expect(await end.catch((error: Error) => error.message)).to.include('waited too long');
        expect(until - Date.now()).to.be.within(1_000, 29_000);
        expect(await read(monitor)).to.include({ failures: 0 });
        await remove(monitor);
    });

    it('stores results encrypted', async () => {
        items = [{ id: 1, note: 'a-word-to-find' }];
        const monitor = await made();
        const [run] = await world.app.db('monitor_runs').where({ monitor_id: monitor.monitor_id });
        expect(run.value.toString('latin1')).not.to.include('a-word-to-find');
        await remove(monitor);
    });
});
