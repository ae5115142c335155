import { expect } from 'chai';
import { ATTEMPTS, type Attempt, forgetAttempts, takeAttempts } from '../../shared/store/accounts/attempts.ts';
import { advanceClock } from '../support/clock.ts';
import { deleteOldRows } from '../support/old-rows.ts';
import { useDatabase } from './registry.ts';

describe('attempts', () => {
    const opened = useDatabase();

    const hourly = (of: string): Attempt => ['foreign mail by user', of];
    const daily = (of: string): Attempt => ['sign-up by client', of];

    it('are allowed up to the limit, however many come at the same time', async () => {
        const waits = await Promise.all(Array.from({ length: 40 }, () => takeAttempts(opened.db, [hourly('crowd'), daily('crowd')])));
        expect(waits.filter((wait) => wait === 0)).to.have.length(ATTEMPTS['foreign mail by user'].max);
        for (const wait of waits) expect(wait).to.be.within(0, ATTEMPTS['foreign mail by user'].seconds);
    });

    it('wait for one window at most, also if their clock was read before the window began', async () => {
        for (let time = 0; time < 5; time++) await takeAttempts(opened.db, [hourly('early')]);
        await opened.db.raw(`update attempts set ends_at = ends_at + interval '2 seconds' where name = 'foreign mail by user: early'`);
        expect(await takeAttempts(opened.db, [hourly('early'), daily('early')])).to.equal(3600);
    });

    it('that are refused do not count', async () => {
        for (let time = 0; time < 5; time++) await takeAttempts(opened.db, [hourly('one')]);
        for (let time = 0; time < 30; time++) expect(await takeAttempts(opened.db, [hourly('one'), daily('one')])).to.be.greaterThan(0);
        expect(await takeAttempts(opened.db, [daily('one')])).to.equal(0);
        const { rows } = await opened.db.raw(`select used from attempts where name = 'sign-up by client: one'`);
        expect(rows[0].used).to.equal(1);
    });

    it('that are refused leave no rows, whatever they name', async () => {
        for (let time = 0; time < 5; time++) await takeAttempts(opened.db, [hourly('stranger')]);
        for (let time = 0; time < 30; time++)
            expect(await takeAttempts(opened.db, [daily(`new ${time}`), hourly('stranger')])).to.be.above(0);
        expect(await opened.db('attempts').where('name', 'like', '%new %').pluck('name')).to.deep.equal([]);
    });

    it('of one caller do not count for another', async () => {
        for (let time = 0; time < 5; time++) await takeAttempts(opened.db, [hourly('first')]);
        expect(await takeAttempts(opened.db, [hourly('second')])).to.equal(0);
    });

    it('are forgotten after success, and when their time is over', async () => {
        for (let time = 0; time < 5; time++) await takeAttempts(opened.db, [hourly('ada')]);
        await forgetAttempts(opened.db, [hourly('ada')]);
        expect(await takeAttempts(opened.db, [hourly('ada')])).to.equal(0);
        await advanceClock(opened.db, 25 * 3_600_000);
        expect(await takeAttempts(opened.db, [hourly('crowd')])).to.equal(0);
        await deleteOldRows(opened.db);
        const { rows } = await opened.db.raw('select name from attempts');
        expect(rows.map(({ name }: { name: string }) => name)).to.deep.equal(['foreign mail by user: crowd']);
    });
});
