import { expect } from 'chai';
import type { Knex } from 'knex';
import { openDb } from '../../shared/db.ts';
import { signUp } from '../dashboard/support/visitor.ts';
import { eventually } from '../support/eventually.ts';
import { openWorld, type World } from '../support/world.ts';

const CROWD = 100;
/** One that runs and four that wait. */
const INSIDE = 5;

describe('a crowd of forms', function () {
    this.timeout(60_000);
    let world: World;
    let other: Knex;

    before(async () => {
        world = await openWorld({ workers: 0, config: { trustProxy: 1 } });
        other = openDb({ url: world.databaseUrl, poolSize: 2, name: 'another' });
    });
    after(async () => {
        await other.destroy();
        await world.close();
    });

    it('of one person holds one database connection, and other people are served meanwhile', async () => {
        const [crowd, good] = [await signUp(world), await signUp(world)];
        const held = await other.transaction();
        await held.raw('lock table api_keys in exclusive mode');
        let refused = 0;
        const all = Array.from({ length: CROWD }, async () => {
            const { status } = await crowd.send('/dashboard/keys', { name: 'laptop', expires: 'never' });
            if (status === 429) refused += 1;
            return status;
        });
        try {
            await eventually(
                async () => refused,
                (count) => count === CROWD - INSIDE,
                10_000,
            );
            expect((await good.get('/dashboard')).status).to.equal(200);
        } finally {
            await held.rollback();
        }
        const statuses = await Promise.all(all);
        expect(statuses.filter((status) => status === 200)).to.have.length(INSIDE);
    });
});
