import { expect } from 'chai';
import type { Db } from '../../shared/platform/db.ts';
import type { Publisher } from '../../shared/store/registry/publication.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { claimRun, endRun, type VerificationRun } from '../../shared/store/registry/verification.ts';
import { advanceClock } from '../support/clock.ts';
import { accepted, contributor, orderOf, packageOf, useDatabase } from './registry.ts';

describe('the next verification run', () => {
    const database = useDatabase({ forEach: true });
    let db: Db;
    beforeEach(() => {
        ({ db } = database);
    });

    /** Each site becomes due when it is published. */
    async function publish(publisher: Publisher, ...sites: string[]): Promise<void> {
        for (const site of sites) accepted(await publishPackage(db, orderOf(packageOf(site), publisher)));
    }

    async function claim(count: number): Promise<VerificationRun[]> {
        const runs: VerificationRun[] = [];
        for (let run = await claimRun(db); run !== undefined && runs.push(run) < count; run = await claimRun(db));
        return runs;
    }

    const sitesOf = (runs: readonly VerificationRun[]) => runs.map(({ site }) => site);
    const many = (name: string) => Array.from({ length: 9 }, (_, number) => `${name}${number}.test`);

    it('alternates between accounts: nobody waits for all sites that another account published before', async () => {
        const [mallory, ada] = [await contributor(db), await contributor(db)];
        await publish(mallory, ...many('slow'));
        await publish(ada, 'first.test', 'second.test');
        expect(sitesOf(await claim(5))).to.deep.equal(['slow0.test', 'first.test', 'slow1.test', 'second.test', 'slow2.test']);
        expect(sitesOf(await claim(20))).to.have.length(6);
    });

    it('counts active runs, but not those that ended or whose worker died', async () => {
        const [mallory, ada] = [await contributor(db), await contributor(db)];
        await publish(mallory, ...many('slow'));
        const runs = await claim(3);
        await publish(ada, 'first.test');
        for (const run of runs) await endRun(db, run, 'passed', []);
        expect(sitesOf(await claim(1))).to.deep.equal(['slow3.test']);
        await advanceClock(db, 11 * 60_000);
        await publish(ada, 'second.test');
        expect(sitesOf(await claim(2))).to.deep.equal(['slow4.test', 'first.test']);
    });
});
