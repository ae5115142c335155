import { expect } from 'chai';
import type { MaintainerEntry } from '../../shared/contracts/maintainers.ts';
import { startSweeper } from '../../workers/sweep.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

describe('the sweeper', () => {
    const world = useWorld({ workers: 0 });

    it('does the other work while one piece fails, and logs an outage once', async () => {
        const [ada, bob] = await Promise.all([join(world), join(world)]);
        const maintainers = async () => dataOf<MaintainerEntry[]>(await ada.call('GET', '/v1/schemas/swept.test/maintainers')).length;
        dataOf(await ada.publish(aPackage('swept.test')));
        dataOf(await ada.call('PUT', `/v1/schemas/swept.test/maintainers/${bob.workspaceId}`));
        dataOf(await ada.call('DELETE', `/v1/schemas/swept.test/maintainers/${bob.workspaceId}`));
        await world.clock.advance({ days: 1 });
        const { db } = world.app;
        const asked: string[] = [];
        db.client.on('query', ({ sql }: { sql: string }) => void asked.push(sql));
        const messages = () => world.logged.filter(({ part }) => part === 'expired results').map(({ message }) => message);

        // Results are swept before removals are applied.
        await db.raw('alter table kept_results rename to gone_results');
        const sweeper = startSweeper(world.app);
        try {
            await eventually(maintainers, (count) => count === 1);
            const failed = () => asked.filter((sql) => /kept_results/.test(sql)).length;
            await eventually(
                async () => failed(),
                (count) => count >= 3,
            );
            expect(messages()).to.deep.equal(['expired results: does not work at the moment']);
            await db.raw('alter table gone_results rename to kept_results');
            await eventually(
                async () => messages(),
                (all) => all.length > 1,
            );
            expect(messages().at(-1)).to.equal('expired results: works again');
        } finally {
            await sweeper.stop();
        }
    });

    it('does the work of each second in each second, also after other work that took longer', async () => {
        const { app } = world;
        let [holds, answers] = [0, 0];
        app.db.client.on('query', ({ sql }: { sql: string }) => {
            if (/idempotency_sweep/.test(sql)) answers++;
        });
        const sweep = async () => {
            if (holds++ % 2 === 0) await app.db.raw('select pg_sleep(0.2)');
            return app.credits.sweep();
        };
        const sweeper = startSweeper({ ...app, credits: { ...app.credits, sweep } });
        try {
            await eventually(
                async () => holds,
                (count) => count >= 4,
            );
        } finally {
            await sweeper.stop();
        }
        expect(answers).to.equal(holds);
    });

    it('releases holds each second, also while hourly work takes long', async () => {
        const { app } = world;
        let holds = 0;
        const sweep = () => {
            holds++;
            return app.credits.sweep();
        };
        const lock = await app.db.transaction();
        await lock.raw('lock table problem_reports');
        const sweeper = startSweeper({ ...app, credits: { ...app.credits, sweep } });
        try {
            await eventually(
                async () => holds,
                (count) => count >= 3,
            );
        } finally {
            await lock.rollback();
            await sweeper.stop();
        }
    });
});
