import { expect } from 'chai';
import type { Knex } from 'knex';
import { openDb } from '../../shared/platform/db.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'orders.test';
/** More than the database connections of a process. */
const CROWD = 40;

describe('a crowd of orders by one account', () => {
    let world: World;
    let other: Knex;
    let crowd: Person;
    let good: Person;
    let job: string;
    let ended: string;
    let batch: string;

    before(async () => {
        world = await openWorld({ workers: 0, acquireTimeoutMs: 1000 });
        other = openDb({ url: world.databaseUrl, poolSize: 2, name: 'another', acquireTimeoutMs: 10_000 });
        good = await join(world, { plan: 'enterprise' });
        dataOf(await good.publish(aPackage(SITE)));
    });
    beforeEach(async () => {
        crowd = await join(world, { plan: 'enterprise' });
        job = dataOf<{ job_id: string }>(await orderJob()).job_id;
        ended = dataOf<{ job_id: string }>(await orderJob()).job_id;
        await crowd.call('DELETE', `/v1/jobs/${ended}`);
        batch = dataOf<{ batch_id: string }>(await orderBatch()).batch_id;
    });
    afterEach(async () => {
        await crowd.call('DELETE', `/v1/batches/${batch}`);
    });
    after(async () => {
        await other.destroy();
        await world.close();
    });

    const call = { site: SITE, endpoint: 'product', params: { id: 1 } };
    const orderJob = () => crowd.call('POST', '/v1/jobs', { body: call });
    const orderBatch = () => crowd.call('POST', '/v1/batches', { body: { items: [call] } });
    const look = async () => codeOf(await good.call('GET', `/v1/catalog/${SITE}?intent=${encodeURIComponent(INTENT)}`)) ?? 'success';

    /** Connections of the API that wait for a lock. */
    async function waitingConnections(): Promise<number> {
        const { rows } = await other.raw<{ rows: [{ count: number }] }>(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows[0].count;
    }

    /** A row that a long order locks until it ends, and orders that wait for it. */
    const LOCKS: Record<string, [lock: () => [string, string], send: () => Promise<Answer>]> = {
        'of jobs': [() => ['select from job_accounts where account_id = ? for update', crowd.workspaceId], orderJob],
        'of batches': [() => ['select from job_accounts where account_id = ? for update', crowd.workspaceId], orderBatch],
        'to pause a batch': [
            () => ['select from batches where batch_id = ? for update', batch],
            () => crowd.call('POST', `/v1/batches/${batch}/pause`),
        ],
        'to resume a batch': [
            () => ['select from batches where batch_id = ? for update', batch],
            () => crowd.call('POST', `/v1/batches/${batch}/resume`, { body: {} }),
        ],
        'to retry a batch': [
            () => ['select from jobs where batch_id = ? for update', batch],
            () => crowd.call('POST', `/v1/batches/${batch}/retry`, { body: {} }),
        ],
        'to cancel a batch': [
            () => ['select from jobs where batch_id = ? for update', batch],
            () => crowd.call('DELETE', `/v1/batches/${batch}`),
        ],
        'to cancel a job': [() => ['select from jobs where job_id = ? for update', job], () => crowd.call('DELETE', `/v1/jobs/${job}`)],
        'to delete the result of a job': [
            () => ['select from jobs where job_id = ? for update', ended],
            () => crowd.call('DELETE', `/v1/jobs/${ended}/result`),
        ],
    };

    for (const [name, [lockOf, send]] of Object.entries(LOCKS)) {
        it(`${name} uses one database connection, and others are served meanwhile`, async () => {
            const held = await other.transaction();
            await held.raw(lockOf()[0], [lockOf()[1]]);
            const all = Array.from({ length: CROWD }, send);
            try {
                await eventually(waitingConnections, (count) => count > 0);
                expect(await Promise.all(Array.from({ length: 5 }, look))).to.deep.equal(Array(5).fill('success'));
                expect(await waitingConnections()).to.equal(1);
            } finally {
                await held.rollback();
            }
            const answers = await Promise.all(all);
            // Beyond 20 open batches, an account must wait.
            expect(answers.filter(({ status }) => status >= 500).map(codeOf)).to.deep.equal([]);
        });
    }
});
