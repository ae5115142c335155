import { expect } from 'chai';
import type { JsonObject } from '../../shared/domain/types.ts';
import { publishStarter } from '../../shared/store/registry/starter.ts';
import { codeOf } from '../support/routes.ts';
import { page, SIBLING, SITE, sitePackage } from '../support/site-with-pages.ts';
import { type AdminRun, openVerifying, type Verifying } from '../support/verifying.ts';
import { ANY_TOPOLOGY, type WorldOptions } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`schema verify (${topology})`, () => {
        let v: Verifying;

        const open = async (options: WorldOptions = {}) => {
            v = await openVerifying(topology, options);
        };
        const fruit = (name = 'fruit') => page(v.site, SITE, name);
        const verify = async (site = SITE) => {
            const { code, json, told } = await v.admin('schema', 'verify', site);
            expect(code, told).to.equal(0);
            return json;
        };
        afterEach(() => v.close());

        it('calls the examples now, and reports for each endpoint whether it passed and why not', async () => {
            await open();
            await v.publish(SITE, [fruit(), fruit('bread'), fruit('fish')]);
            await v.ended(SITE, 1);
            await v.world.clock.advance({ minutes: 10 });
            v.site.changed.add('bread');
            v.site.closed.set('fish', 404);
            const found = await verify();
            expect(found).to.include({ site: SITE, version: 1, outcome: 'failed', verified: true, drift: false, failures_in_a_row: 1 });
            const endpoints = found['endpoints'] as JsonObject[];
            expect(endpoints.map(({ name, passed, code, status }) => [name, passed, code, status])).to.deep.equal([
                ['fruit', true, null, 200],
                ['bread', false, 'UPSTREAM_INVALID_RESPONSE', null],
                ['fish', false, 'UPSTREAM_STATUS', 404],
            ]);
            expect(v.site.calls).to.have.length(6);
            const [entry] = (await v.admin('audit', 'list')).json as unknown as JsonObject[];
            expect(entry).to.deep.include({ command: 'schema verify', target: `${SITE} 1`, before: { verified: true } });
        });

        it('waits for a running run, and repeats its findings within ten minutes', async () => {
            await open();
            await v.publish(SITE, [page(v.site, SITE, 'held')]);
            await v.site.waiting(1);
            const found = verify();
            v.site.letGo();
            expect(await found).to.include({ outcome: 'passed', verified: true });
            const again = await v.admin('schema', 'verify', SITE);
            expect(again.json).to.deep.equal(await found);
            expect(again.told).to.include('within the last ten minutes');
            expect(v.site.calls).to.have.length(1);
        });

        it('calls no domain twice within ten minutes', async () => {
            await open();
            await v.publish(SITE, [fruit()]);
            await v.ended(SITE, 1);
            await v.publish(SIBLING, [page(v.site, SIBLING, 'rides')]);
            expect(faultOf(await v.admin('schema', 'verify', SIBLING))).to.equal('RATE_LIMITED');
            await v.publish(SITE, [fruit('bread')]);
            expect(faultOf(await v.admin('schema', 'verify', SITE))).to.equal('RATE_LIMITED');
            expect(v.pagesCalled()).to.deep.equal(['fruit']);
        });

        it('refuses a site that is blocked, which no run calls either', async () => {
            await open();
            await v.publish(SITE, [fruit()]);
            await v.ended(SITE, 1);
            await v.admin('site', 'block', SITE, '--reason', 'Its owner wrote to us');
            await v.world.clock.advance({ days: 2 });
            expect(faultOf(await v.admin('schema', 'verify', SITE))).to.equal('SITE_BLOCKED');
            await v.nothingIsDue();
            expect(v.pagesCalled()).to.deep.equal(['fruit']);
            await v.admin('site', 'unblock', SITE);
            await v.ended(SITE, 2);
            expect(v.pagesCalled()).to.deep.equal(['fruit', 'fruit']);
        });

        it('stops in the middle of a run if the site is blocked, without a verdict', async () => {
            await open();
            await v.publish(SITE, [page(v.site, SITE, 'held'), fruit()]);
            await v.site.waiting(1);
            await v.admin('site', 'block', SITE, '--reason', 'Its owner wrote to us');
            v.site.letGo();
            const { outcome, findings } = await v.ended(SITE, 1);
            expect(outcome).to.equal('undecided');
            expect(findings.map(({ code }) => code)).to.deep.equal([null, 'SITE_BLOCKED']);
            expect(v.pagesCalled()).to.deep.equal(['held']);
            expect((await v.card(SITE)).verified).to.equal(false);
        });

        it('skips the starter registry, unless an operator asks', async () => {
            await open();
            await publishStarter(v.world.app.db, sitePackage(SITE, [fruit()]));
            await v.world.clock.advance({ days: 2 });
            await v.nothingIsDue();
            expect(v.pagesCalled()).to.deep.equal([]);
            expect(await verify()).to.include({ outcome: 'passed', verified: true });
            expect((await v.card(SITE)).verified).to.equal(true);
            await v.world.clock.advance({ days: 2 });
            await v.nothingIsDue();
            expect(v.pagesCalled()).to.deep.equal(['fruit']);
        });

        it('gives no verdict while the circuit of the site is open, and is not the probe that callers wait for', async () => {
            await open();
            v.site.closed.set('fruit', 500);
            await v.publish(SITE, [page(v.site, SITE, 'fruit', { examples: [] })]);
            await v.ended(SITE, 1);
            for (let failures = 0; failures < 20; failures++) await v.ada.fetch(SITE, 'fruit', { kind: 'any' }, { timeout_ms: 1000 });
            expect(codeOf(await v.ada.fetch(SITE, 'fruit', { kind: 'any' }))).to.equal('SITE_UNAVAILABLE');
            v.site.closed.clear();
            const before = v.site.calls.length;
            await v.world.clock.advance({ seconds: 6 });
            await v.publish(SITE, [fruit('bread')]);
            const { outcome, findings } = await v.ended(SITE, 2);
            expect([outcome, findings.map(({ code }) => code)]).to.deep.equal(['undecided', ['SITE_UNAVAILABLE']]);
            expect(v.site.calls).to.have.length(before);
        });
    });
}

describe('schema verify', () => {
    it('reports a site without a schema, and that no worker takes the run', async () => {
        const v = await openVerifying('postgres', { workers: 0 });
        try {
            expect(faultOf(await v.admin('schema', 'verify', SITE))).to.equal('SITE_NOT_FOUND');
            expect(faultOf(await v.admin('schema', 'verify', 'https://x/'))).to.equal('INVALID_DOMAIN');
            expect((await v.admin('schema', 'verify')).code).to.equal(2);
            await v.publish(SITE, [page(v.site, SITE, 'fruit')]);
            expect(faultOf(await v.admin('schema', 'verify', SITE))).to.equal('SERVICE_UNAVAILABLE');
        } finally {
            await v.close();
        }
    });
});

function faultOf({ code, json }: AdminRun) {
    expect(code).to.equal(1);
    return (json['error'] as JsonObject)['code'];
}
