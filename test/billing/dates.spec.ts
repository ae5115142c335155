import { expect } from 'chai';
import { newcomer, useBillingWorld } from './billing-world.ts';

describe('the billing date of a subscription', () => {
    const fixture = useBillingWorld();

    it('keeps its hour when daylight saving time changes, whatever the time zone of the database', async () => {
        const { db, credits } = fixture.world.app;
        for (const [zone, begins, ends] of [
            ['Europe/Berlin', '2027-03-27T23:30:00Z', '2027-04-27T23:30'],
            ['America/New_York', '2027-10-31T05:30:00Z', '2027-11-30T05:30'],
            ['Australia/Lord_Howe', '2028-03-31T15:15:00Z', '2028-04-30T15:15'],
        ] as const) {
            fixture.stripe.bank.subscriptions.clear();
            await fixture.setTime(begins);
            const [free, payer] = [await newcomer(fixture), await newcomer(fixture)];
            await fixture.subscribe(payer, 'starter');
            await db.transaction(async (trx) => {
                await trx.raw(`set local time zone '${zone}'`);
                const { rows } = await trx.raw<{ rows: { ends: Date }[] }>(
                    'select credit_period_end(anchored_at, 1) as ends from credit_accounts where id = ?',
                    [free.userId],
                );
                expect(rows[0]?.ends.toISOString().slice(0, 16), zone).to.equal(ends);
            });
            for (const account of [free.userId, payer.workspaceId]) {
                expect((await credits.balance(account))?.resetsAt.toISOString().slice(0, 16), zone).to.equal(ends);
            }
        }
    });

    for (const [what, begins, dates] of [
        ['is the same day of each month', '2027-05-14T10:30:00Z', ['2027-06-14', '2027-07-14']],
        [
            'from the 31st is a short month’s last day, and the 31st again after it',
            '2028-10-31T23:59:00Z',
            ['2028-11-30', '2028-12-31', '2029-01-31', '2029-02-28', '2029-03-31'],
        ],
        ['in February of a leap year is the 29th', '2032-01-30T00:00:30Z', ['2032-02-29', '2032-03-30']],
        ['from February 29 is the 29th of other months', '2036-02-29T12:00:00Z', ['2036-03-29', '2036-04-29']],
        ['goes over the turn of the year', '2036-12-15T12:00:00Z', ['2037-01-15', '2037-02-15']],
        [
            'from February 29 is the 28th in the next February, and the 29th again in March',
            '2040-02-29T12:00:00Z',
            [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
                .map((month) => `2040-${String(month).padStart(2, '0')}-29`)
                .concat('2041-01-29', '2041-02-28', '2041-03-29'),
        ],
    ] as const) {
        it(what, async () => {
            fixture.stripe.bank.subscriptions.clear();
            await fixture.setTime(begins);
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            for (const date of dates) {
                expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000, resets: date });
                await fixture.setTime(`${date}${begins.slice(10)}`);
                await fixture.turn();
            }
        });
    }
});
