import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { join, type Person } from '../support/people.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { codeOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';
import { type Prometheus, promtool, startPrometheus } from './prometheus-server.ts';

const OPS = fileURLToPath(new URL('../../ops', import.meta.url));
const DOCS = fileURLToPath(new URL('../../docs/operations.md', import.meta.url));

interface Rules {
    groups: { rules: { alert?: string; record?: string; annotations?: { runbook?: string } }[] }[];
}

const rules = (parse(readFileSync(`${OPS}/prometheus/rules.yml`, 'utf8')) as Rules).groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert, annotations }) => (alert === undefined ? [] : [{ alert, runbook: annotations?.runbook }]));

/** Every query of every dashboard, by its panel. */
const panels = readdirSync(`${OPS}/grafana`).flatMap((file) => {
    const dashboard = JSON.parse(readFileSync(`${OPS}/grafana/${file}`, 'utf8')) as {
        title: string;
        panels: { title: string; targets: { expr: string }[] }[];
    };
    return dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ panel: `${dashboard.title}: ${title}`, expr })));
});

describe('the alerting rules', () => {
    it('are valid, and fire when they should and only then', async function () {
        needs(this, 'prometheus');
        expect(await promtool(['check', 'rules', `${OPS}/prometheus/rules.yml`])).to.include('SUCCESS');
        expect(await promtool(['check', 'config', `${OPS}/prometheus/prometheus.yml`])).to.include('SUCCESS');
        expect(await promtool(['test', 'rules', `${OPS}/prometheus/rules.test.yml`])).to.include('SUCCESS');
    });

    it('are each tested while they fire and while they do not', () => {
        const tests = (
            parse(readFileSync(`${OPS}/prometheus/rules.test.yml`, 'utf8')) as {
                tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
            }
        ).tests.flatMap((test) => test.alert_rule_test);
        for (const { alert } of alerts) {
            const own = tests.filter(({ alertname }) => alertname === alert);
            expect(
                own.some(({ exp_alerts }) => exp_alerts.length > 0),
                `${alert} fires in no test`,
            ).to.equal(true);
            expect(
                own.some(({ exp_alerts }) => exp_alerts.length === 0),
                `${alert} is quiet in no test`,
            ).to.equal(true);
        }
    });

    it('each have a page that says what it means, what to look at and what to do', () => {
        const pages = readFileSync(DOCS, 'utf8').split(/^### /m);
        for (const { alert, runbook } of alerts) {
            expect(runbook).to.equal(`docs/operations.md#${alert.toLowerCase()}`);
            const page = pages.find((text) => text.startsWith(`${alert}\n`));
            expect(page, `docs/operations.md has no page for ${alert}`).to.be.a('string');
            for (const part of ['**Means**', '**Look at**', '**Do**']) expect(page, alert).to.include(part);
        }
    });
});

describe('Prometheus, scraping two APIs and two workers', () => {
    /** A registered site below a domain that is not registered. */
    const BELOW = 'api.dear.test';
    const PRICES = { COST_PER_REQUEST: '0.5', COST_PER_SECOND: '0', COST_PER_GB: '0' };
    let world: World;
    let shop: Shop;
    let redis: OwnRedis;
    let prometheus: Prometheus;
    const running: Running[] = [];
    const ports = { 'routebook-api': [] as number[], 'routebook-worker': [] as number[] };
    let ada: Person;
    /** Requests since the processes started. */
    const sent = { success: 0, status: 0 };

    before(async function () {
        needs(this, 'prometheus', 'redis');
        shop = await openShop();
        redis = await startRedis();
        const store = { redisUrl: redis.url, keyPrefix: '{routebook}' };
        world = await openWorld({ topology: 'redis', workers: 0, config: { egressHosts: SHOP_HOSTS, ...store } });
        const shared = {
            DATABASE_URL: world.databaseUrl,
            REDIS_URL: redis.url,
            EGRESS_ALLOW: '127.0.0.0/8',
            EGRESS_HOSTS: `${SHOP}=127.0.0.1,${BELOW}=127.0.0.1`,
            HOST: '127.0.0.1',
            ...PRICES,
        };
        for (const name of ['api', 'api', 'worker', 'worker'] as const) {
            const metricsPort = await freePort();
            ports[`routebook-${name}`].push(metricsPort);
            const one = startProcess(name, { ...shared, PORT: '0', METRICS_PORT: String(metricsPort) });
            running.push(one);
        }
        for (const [index, one] of running.entries()) await one.said(index < 2 ? 'routebook ready on' : 'the worker takes jobs');
        prometheus = await startPrometheus(ports);
        ada = await join(world, { plan: 'pro' });
        // While processes start, an API may be too busy for a package.
        await eventually(
            async () => (await ada.publish(shopPackage(shop.port))).status,
            (status) => status === 201,
            60_000,
        );
    });

    after(async () => {
        await prometheus?.close();
        shop?.letGo();
        for (const one of running) await one.end('SIGTERM');
        await world?.close();
        await shop?.close();
        await redis?.remove();
    });

    it('counts the requests of each site exactly, and every query of every dashboard returns data', async () => {
        const bases = await Promise.all(
            running.slice(0, 2).map(async (api) => /http:\/\/[\w.:]+/.exec(await api.said('routebook ready on'))?.[0] ?? ''),
        );
        const poor = await join(world, { overrides: { perMinute: 1, allowance: 0 } });
        const fetchAt = (person: typeof ada, index: number, endpoint: string, params = {}) =>
            person.call('POST', '/v1/fetch', { base: bases[index % 2] ?? '', body: { site: SHOP, endpoint, params } });

        // The series must exist before their growth is visible.
        const round = async () => {
            for (let index = 0; index < 6; index++) {
                expect((await fetchAt(ada, index, 'product', { id: index + 1 })).status).to.equal(200);
                expect((await fetchAt(ada, index, 'status', { code: 404 })).status).to.equal(502);
                sent.success += 1;
                sent.status += 1;
            }
            for (let index = 0; index < 2; index++) await fetchAt(poor, index, 'product', { id: 1 });
        };
        await round();
        const scraped = async () => (await prometheus.query(`sum(routebook_fetches_total{site="${SHOP}",outcome="success"})`))[0]?.value;
        await eventually(scraped, (value) => value === sent.success, 15_000);
        await round();
        await eventually(scraped, (value) => value === sent.success, 15_000);

        const one = async (expression: string) => (await prometheus.query(expression))[0]?.value;
        const of = (metric: string, labels = '') => one(`sum(${metric}{site="${SHOP}"${labels}})`);
        // The last requests may be in the next scrape.
        await eventually(
            () => of('routebook_fetches_total', ',outcome="UPSTREAM_STATUS"'),
            (value) => value === sent.status,
            15_000,
        );
        expect(await of('routebook_credits_charged_total')).to.equal(sent.success);
        expect(shop.seen).to.have.lengthOf(sent.success + sent.status);
        await eventually(
            () => of('routebook_upstream_requests_total'),
            (value) => value === shop.seen.length,
            15_000,
        );
        expect(await of('routebook_site_cost_usd_total')).to.equal(shop.seen.length * 0.5);

        // A circuit appears once it was open: more than half of the calls must fail.
        const cut = async () => (await Promise.all(Array.from({ length: 40 }, (_, index) => fetchAt(ada, index, 'cut')))).map(codeOf);
        await eventually(cut, (codes) => codes.includes('SITE_UNAVAILABLE'), 20_000);
        for (const { panel, expr } of panels) {
            await eventually(
                () => prometheus.query(expr).then((series) => series.length),
                (series) => series > 0,
                20_000,
            ).catch((error: Error) => expect.fail(`${panel}: ${expr}: ${error.message}`));
        }
        for (const { record } of rules) {
            if (record !== undefined) expect(await prometheus.query(record), record).to.not.have.lengthOf(0);
        }
    });

    it('has the income and cost of a site under one name, if that is not its registrable domain', async () => {
        const bea = await join(world, { plan: 'pro' });
        expect((await bea.publish(shopPackage(shop.port, { site: BELOW }))).status).to.equal(201);
        const [base = ''] = /http:\/\/[\w.:]+/.exec((await running[0]?.said('routebook ready on')) ?? '') ?? [];
        const body = { site: BELOW, endpoint: 'product', params: { id: 7 } };
        expect((await bea.call('POST', '/v1/fetch', { base, body })).status).to.equal(200);
        const ofBelow = async (metric: string) => (await prometheus.query(`sum(${metric}{site="${BELOW}"})`))[0]?.value;
        for (const [metric, figure] of [
            ['routebook_fetches_total', 1],
            ['routebook_credits_charged_total', 1],
            ['routebook_upstream_requests_total', 1],
            ['routebook_site_cost_usd_total', 0.5],
        ] as const) {
            await eventually(
                () => ofBelow(metric),
                (value) => value === figure,
                15_000,
            );
        }
        expect(await prometheus.query('routebook_fetches_total{site="dear.test"}')).to.deep.equal([]);
    });

    it('has shared values at every API, and no unmeasured 0 at a worker', async () => {
        const gauges = [
            'routebook_credits_held',
            'routebook_queue_oldest_wait_seconds',
            'routebook_ledger_drift_accounts',
            'routebook_schemas_drifted',
            'routebook_webhook_oldest_due_seconds',
            'routebook_webhook_deliveries{state="due"}',
            'routebook_monitors{status="active"}',
            'routebook_monitors_oldest_due_seconds',
            'routebook_queue_jobs{state="waiting"}',
            'routebook_open_jobs{state="running"}',
            'routebook_open_jobs{state="worker"}',
            'routebook_fetch_duration_seconds_count',
            'routebook_fetch_queue_seconds_count',
        ];
        for (const gauge of gauges) {
            const jobs = (await prometheus.query(gauge)).map(({ metric }) => metric['job']);
            expect(jobs, gauge).to.deep.equal(['routebook-api', 'routebook-api']);
        }
    });

    it('has metrics that promtool accepts', async () => {
        for (const port of Object.values(ports).flat()) {
            const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
            await promtool(['check', 'metrics'], text);
        }
    });
});
