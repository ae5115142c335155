import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { openLookUpSessions } from '../../shared/store/fetch/look-up-sessions.ts';
import * as traffic from '../../shared/store/usage/traffic.ts';
import * as usage from '../../shared/store/usage/usage.ts';
import { advanceClock } from '../support/clock.ts';
import { patienceFor } from '../support/eventually.ts';
import { eventually, useDatabase } from './registry.ts';

describe('the request log', () => {
    const opened = useDatabase();

    const fetched = (site: string, more: Partial<usage.UsageRow> = {}): usage.UsageRow => ({
        kind: 'fetch',
        operation: newId('op'),
        site,
        registrable: site,
        endpoint: 'search',
        version: 1,
        outcome: 'success',
        credits: 1,
        durationMs: 100.4,
        ...more,
    });
    const write = async (...rows: usage.UsageRow[]) => {
        const log = usage.openUsage(opened.db);
        for (const row of rows) log.record(row);
        await log.close();
    };
    const countOf = async (site: string) => {
        const { rows } = await opened.db.raw<{ rows: [{ count: number }] }>('select count(*) as count from usage where site = ?', [site]);
        return rows[0].count;
    };
    const trafficOf = async (site: string) => {
        const [shown] = await traffic.siteTraffic(opened.db, [site]);
        if (shown === undefined) throw new Error('a site without an answer');
        return shown;
    };
    const advance = (days: number) => advanceClock(opened.db, days * 86_400_000);

    it('has every call within a second, written in batches', async () => {
        const log = usage.openUsage(opened.db);
        let queries = 0;
        const count = () => queries++;
        opened.db.on('query', count);
        for (let i = 0; i < 500; i++)
            log.record(fetched('together.example', { queueMs: 1.5, upstream: { status: 200, attempts: 1, durationMs: 90, bytes: 5 } }));
        await eventually(
            async () => queries,
            (seen) => seen > 0,
        );
        await log.close();
        opened.db.removeListener('query', count);
        expect(queries).to.equal(1);
        const { answer, ms } = await eventually(
            () => countOf('together.example'),
            (rows) => rows === 500,
        );
        expect(answer).to.equal(500);
        expect(ms).to.be.below(patienceFor(1000));
        const { rows } = await opened.db.raw('select * from usage where site = ? limit 1', ['together.example']);
        expect(rows[0]).to.include({
            duration_ms: 100,
            queue_ms: 2,
            upstream_status: 200,
            upstream_ms: 90,
            outcome: 'success',
            account_id: null,
        });
    });

    it('keeps the last calls while the database is down, and writes them when it is up', async () => {
        const faults: unknown[] = [];
        const log = usage.openUsage(opened.db, { log: { warn: (fields) => faults.push(fields) } });
        await opened.db.raw('alter table usage rename to usage_away');
        log.record(fetched('away.example'));
        await log.flush();
        expect(faults).to.have.length(1);
        await opened.db.raw('alter table usage_away rename to usage');
        log.record(fetched('away.example'));
        await log.close();
        expect(await countOf('away.example')).to.equal(2);
    });

    it('drops a row that cannot be written rather than all later ones', async () => {
        const log = usage.openUsage(opened.db);
        log.record(fetched('bad.example', { credits: 1e15 }));
        await log.flush();
        log.record(fetched('bad.example'));
        await log.close();
        expect(await countOf('bad.example')).to.equal(1);
    });

    it('drops no other row beside one that cannot be written', async () => {
        const faults: unknown[] = [];
        const log = usage.openUsage(opened.db, { log: { warn: (fields) => faults.push(fields) } });
        for (let row = 0; row < 30; row++) log.record(fetched('beside.example', row % 10 === 7 ? { credits: 1e15 } : {}));
        // Text without repetition, which cannot be compressed.
        const endless = Array.from({ length: 4000 }, (_, place) => String.fromCodePoint(0x4e00 + ((place * 7919) % 20_000))).join('');
        log.record(fetched('beside.example', { endpoint: endless }));
        await log.close();
        expect(await countOf('beside.example')).to.equal(27);
        expect(faults).to.have.length(4);
    });

    it('shows how well an endpoint works, by the calls that reached the site', async () => {
        const site = 'health.example';
        const slow = { upstream: { status: 200, attempts: 1, durationMs: 2000, bytes: 1 } };
        await write(
            ...Array.from({ length: 17 }, () => fetched(site)),
            fetched(site, slow),
            fetched(site, { outcome: 'UPSTREAM_STATUS', credits: 0 }),
            fetched(site, { outcome: 'UPSTREAM_INVALID_RESPONSE', credits: 0 }),
            // None of these says anything about the endpoint.
            fetched(site, { outcome: 'INVALID_PARAMS', credits: 0 }),
            fetched(site, { outcome: 'DEADLINE_EXCEEDED', credits: 0 }),
            fetched(site, { outcome: 'SITE_UNAVAILABLE', credits: 0 }),
            fetched(site, { cached: true, credits: 0 }),
            fetched(site, { kind: 'catalog', endpoint: undefined, credits: 0 }),
            fetched(site, { endpoint: 'broken', outcome: 'UPSTREAM_TIMEOUT', credits: 0 }),
        );
        const health = await traffic.endpointHealth(opened.db, site);
        expect([...health.keys()].toSorted()).to.deep.equal(['broken', 'search']);
        expect(health.get('search')?.successRate).to.equal(0.9);
        expect(health.get('search')?.p95Ms).to.be.within(1800, 2200);
        expect(health.get('search')?.lastSuccessAt).to.be.instanceOf(Date);
        expect(health.get('broken')).to.deep.equal({ successRate: 0, p95Ms: null, lastSuccessAt: null });
        const shown = await trafficOf(site);
        expect(shown.fetches7d).to.equal(18);
        expect(shown.health?.successRate).to.be.closeTo(18 / 21, 1e-9);
    });

    it('says nothing about a site that nobody called', async () => {
        expect(await trafficOf('silent.example')).to.deep.equal({ fetches7d: 0, health: undefined });
        expect((await traffic.endpointHealth(opened.db, 'silent.example')).size).to.equal(0);
    });

    it('adds up the calls of the same endpoints from several processes', async () => {
        await Promise.all(
            Array.from({ length: 8 }, (_, i) =>
                write(
                    ...Array.from({ length: 50 }, (_, j) =>
                        fetched('busy.example', { endpoint: `e${(i * 7 + j) % 10}`, durationMs: 1 + j * 20 }),
                    ),
                ),
            ),
        );
        expect((await trafficOf('busy.example')).fetches7d).to.equal(400);
        expect(await countOf('busy.example')).to.equal(400);
    });

    it('keeps catalog sessions, each once', async () => {
        const sessions = openLookUpSessions(opened.db);
        const id = newId('ses');
        sessions.record({ id, site: 'session.example', accountId: undefined });
        sessions.record({ id, site: 'session.example', accountId: 'usr_x' });
        await sessions.close();
        const { rows } = await opened.db.raw('select * from catalog_sessions where id = ?', [id]);
        expect(rows).to.have.length(1);
    });

    it('has the calls of days without a prepared partition, after a jump of the clock or a pause of all workers', async () => {
        const faults: unknown[] = [];
        const log = usage.openUsage(opened.db, { log: { warn: (fields) => faults.push(fields) } });
        for (const days of [10, 60]) {
            await advance(days);
            for (let row = 0; row < 3; row++) log.record(fetched('jump.example'));
            await log.flush();
        }
        await log.close();
        expect(faults).to.deep.equal([]);
        expect(await countOf('jump.example')).to.equal(6);
        const { rows } = await opened.db.raw("select distinct tableoid::regclass::text as day from usage where site = 'jump.example'");
        expect(rows).to.have.length(2);
    });

    it('deletes the week’s figures after a week, and old rows on request', async () => {
        await write(fetched('old.example'));
        await advance(6);
        expect((await trafficOf('old.example')).fetches7d).to.equal(1);
        await advance(2);
        const shown = await trafficOf('old.example');
        expect(shown.fetches7d).to.equal(0);
        expect(shown.health).to.include({ successRate: null, p95Ms: null });
        expect(shown.health?.lastSuccessAt).to.be.instanceOf(Date);
        await traffic.maintainUsage(opened.db, 9);
        expect(await countOf('old.example')).to.equal(1);
        await traffic.maintainUsage(opened.db, 7);
        expect(await countOf('old.example')).to.equal(0);
    });
});
