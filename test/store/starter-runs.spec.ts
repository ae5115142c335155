import { expect } from 'chai';
import type { Db } from '../../shared/platform/db.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { scheduleStarters } from '../../shared/store/registry/starter-sites.ts';
import { claimRun, endRun } from '../../shared/store/registry/verification.ts';
import { advanceClock } from '../support/clock.ts';
import { accepted, contributor, orderOf, packageOf, useDatabase } from './registry.ts';

describe('starter packages in the daily runs (STARTER_VERIFY)', () => {
    const database = useDatabase({ forEach: true });
    let db: Db;
    beforeEach(() => {
        ({ db } = database);
    });

    it('are called once, and again after a day', async () => {
        accepted(await publishPackage(db, orderOf(packageOf('starter.example'), undefined)));
        expect(await claimRun(db)).to.equal(undefined);
        expect(await scheduleStarters(db)).to.equal(1);
        expect(await scheduleStarters(db)).to.equal(0);
        const run = await claimRun(db);
        if (run === undefined) throw new Error('no run is due');
        await endRun(db, run, 'passed', []);
        await scheduleStarters(db);
        expect(await claimRun(db)).to.equal(undefined);
        await advanceClock(db, 86_400_000);
        expect((await claimRun(db))?.run).to.equal(2);
    });

    it('wait for a new version if there is nothing to call, and leave packages of contributors alone', async () => {
        accepted(await publishPackage(db, orderOf(packageOf('empty.example'), undefined)));
        accepted(await publishPackage(db, orderOf(packageOf('theirs.example'), await contributor(db))));
        expect(await scheduleStarters(db)).to.equal(1);
        for (let run = await claimRun(db); run !== undefined; run = await claimRun(db)) await endRun(db, run, 'nothing', []);
        expect(await scheduleStarters(db)).to.equal(0);
        accepted(await publishPackage(db, orderOf(packageOf('empty.example', 'Two'), undefined)));
        expect(await scheduleStarters(db)).to.equal(1);
    });
});
