import { expect } from 'chai';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import { EVENT_TYPES } from '../../shared/domain/events/event-types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { countEvents, readEvents } from '../../shared/store/events/event-feed.ts';
import { listJobs } from '../../shared/store/jobs/jobs.ts';
import { useDatabase } from '../store/registry.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { countRowsRead } from '../support/rows-read.ts';
import { useWorld } from '../support/world.ts';

/** Jobs of one workspace. Only the oldest one is queued. */
const JOBS = 250_000;
/** Maximum number of jobs that a list reads. */
const READ = 100_000;

describe('a list of many jobs', () => {
    const database = useDatabase();
    let db: Db;

    before(async () => {
        ({ db } = database);
        await db.raw(
            `insert into jobs (job_id, workspace_id, key_id, account_id, site, registrable, endpoint, version_id, version, effect, needs,
                               metadata, unit, expires_at, status, finished_at)
             select 'job_' || n, 'wsp_many', 'key_1', 'usr_1', 'shop.test', 'shop.test', 'product', 1, 1, 'read', 'read', '{}', 1, app_now(),
                    case when n = 1 then 'queued' else 'succeeded' end, case when n > 1 then app_now() end
             from generate_series(1, :jobs) n order by n`,
            { jobs: JOBS },
        );
        await db.raw('vacuum analyze jobs');
    });

    const reader = { workspaceId: 'wsp_many', userId: 'usr_1', scopes: EVERY_SCOPE };

    it('reads a bounded part of them for a filter that hardly any matches, and finds all by its cursor', async () => {
        const pages: number[] = [];
        for (let after: number | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
            const list = async (trx: Db) => {
                // As beside the jobs of many other workspaces.
                await trx.raw('set local enable_seqscan = off');
                return listJobs(trx, reader, { status: 'queued', limit: 20, after });
            };
            const { done, read } = await countRowsRead(db, list, 'jobs');
            // The two ends of what is read, the count and the page.
            expect(read).to.be.at.most(4 * READ + 100);
            pages.push(done.rows.length);
            after = done.next;
        }
        expect(pages).to.deep.equal([0, 0, 1]);
    });

    it('shows the newest without a filter, and counts at most as many as it reads', async () => {
        const { rows: jobs, next, total } = await listJobs(db, reader, { limit: 20 });
        expect(jobs.map(({ jobId }) => jobId)).to.deep.equal(Array.from({ length: 20 }, (_, place) => `job_${JOBS - place}`));
        expect(next).to.equal(jobs.at(-1)?.number);
        expect(total).to.equal(READ);
    });
});

describe('the feed of an account beside many events of sites of others', () => {
    const database = useDatabase();
    const reader = { workspaceId: 'wsp_few', accountId: 'usr_few' };
    let db: Db;

    before(async () => {
        ({ db } = database);
        await db.raw(
            `insert into events (id, type, site, data, position)
             select 'evt_' || n, 'schema.published', 'site' || n % 1000 || '.test', '{}', n from generate_series(1, 20000) n`,
        );
        await db.raw("insert into site_callers (site, workspace_id, day) values ('site7.test', 'wsp_few', app_now()::date)");
        await db.raw('vacuum analyze events');
    });

    it('reads and counts the events of its own sites alone', async () => {
        const page = await countRowsRead(db, (trx) => readEvents(trx, reader, { types: EVENT_TYPES, after: 0, limit: 20 }), 'events');
        expect(page.done.events.map(({ eventId }) => eventId)).to.deep.equal(Array.from({ length: 20 }, (_, n) => `evt_${n * 1000 + 7}`));
        const count = await countRowsRead(db, (trx) => countEvents(trx, reader, EVENT_TYPES), 'events');
        expect(count.done).to.equal(20);
        // The end of the feed is read too.
        expect(page.read + count.read).to.be.at.most(50);
    });
});

describe('long lists of one account', () => {
    const world = useWorld({ workers: 0 });

    for (const [path, table] of [
        ['/v1/jobs', 'jobs'],
        ['/v1/events', 'events'],
        ['/v1/audit', 'workspace_audit'],
        ['/v1/webhooks/{webhook_id}/deliveries', 'webhook_deliveries'],
    ] as const) {
        it(`are read one at a time, so that others find a connection: ${path}`, async () => {
            const [person, other] = [await join(world), await join(world)];
            const { webhook_id: id } = dataOf(
                await person.call('POST', '/v1/webhooks', { body: { url: 'https://hooks.test/', events: ['job.*'] } }),
            ) as { webhook_id: string };
            const { db } = world.app;
            const waiting = async (): Promise<number> => {
                const { rows } = await db.raw('select count(*) from pg_locks where not granted and relation = ?::regclass', [table]);
                return rows[0].count;
            };
            const lock = await db.transaction();
            const reads: Promise<unknown>[] = [];
            try {
                await lock.raw('lock table ?? in access exclusive mode', [table]);
                for (let read = 0; read < 8; read++) reads.push(person.call('GET', path.replace('{webhook_id}', id)));
                await eventually(waiting, (count) => count > 0);
                // By now, the others would wait for the table too.
                await other.call('GET', '/v1/connections');
                expect(await waiting()).to.equal(1);
            } finally {
                await lock.rollback();
                await Promise.all(reads);
            }
        });
    }
});
