import { expect } from 'chai';
import { indexNextSite, noteCalls } from '../../shared/store/registry/endpoint-index.ts';
import { endpointRows } from '../../shared/store/registry/list-endpoints.ts';
import { describe as describePackage } from '../../workers/index/index-endpoints.ts';
import { eventually } from '../support/eventually.ts';
import { ask, namesIn } from '../support/find.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'indexed.test';

describe('the index of endpoints', () => {
    const world = useWorld({ workers: 0 });
    let ada: Person;
    before(async () => {
        ada = await join(world, { plan: 'pro' });
    });

    const publish = async (title: string) => dataOf(await ada.publish(aPackage(SITE, { title })));
    let faults: string[] = [];
    const index = (describe = describePackage) => indexNextSite(world.app.db, { describe, onFault: (site) => faults.push(site) });
    beforeEach(() => {
        faults = [];
    });
    const indexed = (): Promise<number[]> => world.app.db('endpoints').where({ site: SITE }).distinct().pluck('version_id');
    const latest = async (): Promise<number> => (await world.app.db('sites').where({ site: SITE }).first()).latest_version_id;
    const isBlocked = async () => {
        const { rows } = await world.app.db.raw(
            "select count(*)::integer as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows[0].waiting > 0;
    };

    it('waits for a yank of the domain without a deadlock', async () => {
        await publish('One');
        expect(await index()).to.equal(true);
        await publish('Two');
        const indexing = await world.app.db.transaction(async (yank) => {
            await yank('domains').where({ registrable: SITE }).forUpdate().select('registrable');
            const running = index();
            await eventually(isBlocked, Boolean);
            // A deadlock would end one of the two here.
            await yank('endpoints').where({ site: SITE }).delete();
            return { running };
        });
        expect(await indexing.running).to.equal(true);
        expect(await indexed()).to.deep.equal([await latest()]);
    });

    it('never contains a version that stopped being the latest while it was read', async () => {
        await publish('Three');
        const third = await latest();
        let isYanked = false;
        const describeAfterYank: typeof describePackage = async (text, site) => {
            if (!isYanked) dataOf(await ada.call('POST', `/v1/schemas/${SITE}/versions/3/yank`, { body: { reason: 'security' } }));
            isYanked = true;
            return describePackage(text, site);
        };
        expect(await index(describeAfterYank)).to.equal(true);
        expect(await indexed()).not.to.include(third);
        while (await index());
        expect(await indexed()).to.deep.equal([await latest()]);
    });

    it('keeps no entries of endpoints that it has removed', async () => {
        const ids = async (table: string, column: string): Promise<number[]> => world.app.db(table).orderBy(column).pluck(column);
        expect(await ids('endpoint_entries', 'endpoint_id')).to.deep.equal(await ids('endpoints', 'id'));
    });

    it('skips a site that cannot be indexed, and tries it again after a minute', async () => {
        await publish('Four');
        dataOf(await ada.publish(aPackage('after.test')));
        const failing: typeof describePackage = async () => {
            throw new Error('no way');
        };
        expect(await index(failing)).to.equal(false);
        expect(faults).to.deep.equal([SITE]);
        expect(await index()).to.equal(true);
        expect(await world.app.db('sites_to_index').pluck('site')).to.deep.equal([SITE]);
        expect(await index()).to.equal(false);
        await world.clock.advance({ minutes: 1 });
        expect(await index()).to.equal(true);
        expect(await indexed()).to.deep.equal([await latest()]);
    });

    it('accepts packages whose texts contain words longer than PostgreSQL allows', async () => {
        const params = [{ name: 'id', source: 'path' as const, required: true, example: '\u0915'.repeat(999) }];
        dataOf(await ada.publish(aPackage('long.test', { endpoints: [anEndpoint('long.test', { params })] })));
        expect(await index()).to.equal(true);
        expect(faults).to.deep.equal([]);
    });

    it('lets the next version be published meanwhile', async () => {
        await world.app.db.transaction(async (trx) => {
            // Locks the domain like the indexer.
            await trx('domains').where({ registrable: SITE }).forKeyShare().select('registrable');
            await publish('Meanwhile');
        });
    });

    it('ranks working and fast endpoints first among equal matches', async () => {
        const site = 'tides.test';
        const description = 'Tides of a harbour.';
        const endpoints = ['one', 'two'].map((name) => anEndpoint(site, { name, description, url: `https://${site}/${name}`, params: [] }));
        dataOf(await ada.publish(aPackage(site, { endpoints })));
        for (let wasWaiting = true; wasWaiting; ) wasWaiting = await index();
        const { db } = world.app;
        const order = async () => namesIn(await ask(world, { task: 'tides of a harbour' }));
        const note = async (endpoint: string, failures: number, bucket: number) => {
            const made = { site, endpoint, day: db.raw("(app_now() at time zone 'UTC')::date") };
            await db('endpoint_days').insert({ ...made, successes: 9, failures });
            await db('endpoint_durations').insert({ ...made, bucket, successes: 9 });
            await noteCalls(db);
        };
        const [first = '', second = ''] = await order();
        await note(first.slice(site.length + 1), 91, 30);
        expect(await order()).to.deep.equal([second, first]);
        await db('endpoint_days').where({ site }).update({ failures: 0 });
        await note(second.slice(site.length + 1), 0, 40);
        expect(await order()).to.deep.equal([first, second]);
        await world.clock.advance({ days: 9 });
        await noteCalls(db);
        expect(await db('endpoints').where({ site }).pluck('success_rate')).to.deep.equal([null, null]);
    });

    it('reads the figures of calls by their index', async () => {
        const { db } = world.app;
        const asked: string[] = [];
        const hear = ({ sql }: { sql: string }) => asked.push(sql);
        db.on('query', hear);
        await endpointRows(db, [1]);
        db.removeListener('query', hear);
        await db.transaction(async (trx) => {
            await trx.raw('set local enable_seqscan = off');
            const { rows } = await trx.raw(`explain ${asked[0]?.replaceAll(/\$[12]/g, "'{1}'")}`);
            const plan = rows.map((row: { 'QUERY PLAN': string }) => row['QUERY PLAN']).join('\n');
            expect(plan).to.include('endpoint_days_pkey').and.include('endpoint_durations_pkey').and.not.include('Seq Scan on endpoint_d');
        });
    });
});
