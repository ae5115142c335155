import { expect } from 'chai';
import { Cron } from 'croner';
import { closestRuns, cronFault, jitterOf, nextRun, readEvery, type Schedule } from '../../shared/domain/monitors/schedule.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';

const at = (text: string) => Date.parse(text);
const NOW = new Date('2026-03-01T12:00:00Z');
const MINUTE = 60;
const HOUR = 3600;

describe('the schedule of a monitor', () => {
    for (const [text, seconds] of [
        ['5m', 300],
        ['15m', 900],
        ['1h', HOUR],
        ['1d', 24 * HOUR],
        ['30d', 30 * 24 * HOUR],
        ['4m', undefined],
        ['31d', undefined],
        ['0h', undefined],
        ['1.5h', undefined],
        ['60', undefined],
        ['1w', undefined],
        [' 1h', undefined],
        ['', undefined],
    ] as const) {
        it(`reads every "${text}" as ${seconds === undefined ? 'no interval' : `${seconds} s`}`, () => {
            expect(readEvery(text)).to.equal(seconds);
        });
    }

    for (const [cron, timezone, path, says] of [
        ['0 8 * * 1-5', 'UTC', undefined, ''],
        ['*/15 8-18 * jan,jun MON-FRI', 'Europe/Berlin', undefined, ''],
        ['0 8 * *', 'UTC', '/cron', 'five fields'],
        ['0 0 8 * * *', 'UTC', '/cron', 'five fields'],
        ['60 8 * * *', 'UTC', '/cron', 'Field 1 (minute)'],
        ['0 24 * * *', 'UTC', '/cron', 'Field 2 (hour)'],
        ['0 8 32 * *', 'UTC', '/cron', 'Field 3 (day of the month)'],
        ['0 8 * 13 *', 'UTC', '/cron', 'Field 4 (month)'],
        ['0 8 * * 9', 'UTC', '/cron', 'Field 5 (day of the week)'],
        ['a 8 * * *', 'UTC', '/cron', 'Field 1 (minute)'],
        ['*/0 8 * * *', 'UTC', '/cron', 'Field 1 (minute)'],
        ['@daily', 'UTC', '/cron', 'five fields'],
        ['0 0 30 2 *', 'UTC', '/cron', 'no date'],
        // The last Sunday of March has no such minutes.
        ['* 2 * 3 0L', 'Europe/Berlin', '/cron', 'no date'],
        ['*/20 2 * 3 0#2', 'America/New_York', '/cron', 'no date'],
        // Only in 2044, and at the next clock change of a date that is skipped this year.
        ['0 0 * 2 1#5', 'UTC', undefined, ''],
        ['*/20 2 29 3 *', 'Europe/Berlin', undefined, ''],
        ['0 8 * * *', 'Mars/Olympus', '/timezone', 'IANA'],
        ['0 8 * * *', '+01:00', '/timezone', 'IANA'],
    ] as const) {
        it(`takes "${cron}" in ${timezone} as ${path === undefined ? 'right' : `wrong at ${path}: ${says}`}`, () => {
            const fault = cronFault(cron, timezone, NOW);
            expect(fault?.path).to.equal(path);
            expect(fault?.message ?? '').to.include(says);
        });
    }

    for (const [cron, timezone, seconds] of [
        ['0 8 * * *', 'UTC', 24 * HOUR],
        ['*/5 * * * *', 'UTC', 5 * MINUTE],
        ['0 * * * *', 'Europe/Berlin', HOUR],
        ['0,10 8 * * *', 'UTC', 10 * MINUTE],
        // 23:50 and 0:00 of the next day.
        ['0,50 0,23 * * *', 'UTC', 10 * MINUTE],
        // Only on the first of each month does nothing follow midnight.
        ['50,0 23,0 1 * *', 'UTC', 50 * MINUTE],
    ] as const) {
        it(`finds the closest two runs of "${cron}" in ${timezone}`, () => {
            expect(closestRuns({ cron, timezone }, MINUTE, NOW))
                .to.be.at.most(seconds)
                .and.at.least(Math.min(seconds, 5 * MINUTE));
            if (timezone === 'UTC' && seconds < 24 * HOUR) expect(closestRuns({ cron, timezone }, MINUTE, NOW)).to.equal(seconds);
        });
    }

    it('finds two runs that daylight saving time brings together', () => {
        const cron = '30 1,3 * * *';
        expect(closestRuns({ cron, timezone: 'UTC' }, MINUTE, NOW)).to.equal(2 * HOUR);
        expect(closestRuns({ cron, timezone: 'Europe/Berlin' }, MINUTE, NOW)).to.equal(HOUR);
    });

    it('lists no run twice that repeats each hour', () => {
        // Croner takes 0.1 ms for each.
        const { nextRun } = Cron.prototype;
        let listed = 0;
        Cron.prototype.nextRun = function count(...given) {
            listed += 1;
            return nextRun.apply(this, given);
        };
        try {
            expect(closestRuns({ cron: '*/5 * * * *', timezone: 'UTC' }, 5 * MINUTE, NOW)).to.equal(5 * MINUTE);
        } finally {
            Cron.prototype.nextRun = nextRun;
        }
        expect(listed).to.be.at.most(40);
    });

    it('checks any expression quickly', () => {
        for (const cron of ['*/5 * * * *', '* * * * *'])
            expect(cpuMsOf(() => closestRuns({ cron, timezone: 'Europe/Berlin' }, 5 * MINUTE, NOW))).to.be.below(roomFor(1000));
    });

    for (const [cron, timezone] of [
        ['* 2 * 3 0L', 'Europe/Berlin'],
        ['* 0-3 * 3 0L', 'Antarctica/Troll'],
        ['0 0 30 2 *', 'Europe/Berlin'],
    ] as const) {
        it(`checks "${cron}", which never runs in ${timezone}, without a long turn`, () => {
            cronFault('0 8 * * *', timezone, NOW);
            const all = () => [cronFault(cron, timezone, NOW), closestRuns({ cron, timezone }, 5 * MINUTE, NOW)];
            expect(cpuMsOf(all)).to.be.below(roomFor(50));
        });
    }

    it('checks a date that never comes about as fast as one that comes in 18 years', () => {
        const msOf = (cron: string) => cpuMsOf(() => Array.from({ length: 20 }, () => cronFault(cron, 'Europe/Berlin', NOW)));
        const [comes, never] = ['0 0 * 2 1#5', '0 0 31 2,4,6,9,11 *'].map((cron) => Math.min(msOf(cron), msOf(cron), msOf(cron)));
        expect(never).to.be.below(4 * (comes ?? 0));
    });

    const monitor = (schedule: Schedule, more: { failures?: number; shortest?: number } = {}) => ({
        monitorId: 'mon_1',
        schedule,
        since: at('2026-03-01T12:00:00Z'),
        failures: 0,
        shortest: 300,
        ...more,
    });
    const late = jitterOf('mon_1');
    const hourly = { every: HOUR };
    const leapDays = { cron: '0 8 29 2 *', timezone: 'UTC' };
    const mornings = { cron: '0 8 * * 1-5', timezone: 'Europe/Berlin' };

    for (const [name, rhythm, now, last, wanted] of [
        ['an hour after it began', monitor(hourly), '2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z', '2026-03-01T13:00:00Z'],
        ['an hour after the last', monitor(hourly), '2026-03-01T15:10:00Z', '2026-03-01T15:00:00Z', '2026-03-01T16:00:00Z'],
        ['at its next time after an outage', monitor(hourly), '2026-03-03T09:20:00Z', '2026-03-01T15:00:00Z', '2026-03-03T10:00:00Z'],
        ['at the hours of its timezone', monitor(mornings), '2026-03-27T12:00:00Z', undefined, '2026-03-30T06:00:00Z'],
        ['on the next 29 February', monitor(leapDays), '2028-02-29T08:00:00Z', undefined, '2032-02-29T08:00:00Z'],
        ['before the clock changes', monitor(mornings), '2026-03-26T12:00:00Z', undefined, '2026-03-27T07:00:00Z'],
        [
            'as far apart as its plan says',
            monitor({ every: 300 }, { shortest: HOUR }),
            '2026-03-01T15:01:00Z',
            '2026-03-01T15:00:00Z',
            '2026-03-01T16:00:00Z',
        ],
        [
            'as before after nine failures',
            monitor(hourly, { failures: 9 }),
            '2026-03-01T15:01:00Z',
            '2026-03-01T15:00:00Z',
            '2026-03-01T16:00:00Z',
        ],
        [
            'after two hours at ten',
            monitor(hourly, { failures: 10 }),
            '2026-03-01T15:01:00Z',
            '2026-03-01T15:00:00Z',
            '2026-03-01T17:00:00Z',
        ],
        [
            'after four hours at eleven',
            monitor(hourly, { failures: 11 }),
            '2026-03-01T15:01:00Z',
            '2026-03-01T15:00:00Z',
            '2026-03-01T19:00:00Z',
        ],
        ['after a day at most', monitor(hourly, { failures: 40 }), '2026-03-01T15:01:00Z', '2026-03-01T15:00:00Z', '2026-03-02T15:00:00Z'],
        [
            'as seldom as it did, where that is less than once a day',
            monitor({ every: 2 * 24 * HOUR }, { failures: 12 }),
            '2026-03-03T12:01:00Z',
            '2026-03-03T12:00:00Z',
            '2026-03-05T12:00:00Z',
        ],
    ] as const) {
        it(`runs ${name}`, () => {
            const then = last === undefined ? undefined : at(last) + (last === '2026-03-01T12:00:00Z' ? 0 : late);
            expect(new Date(nextRun(rhythm, at(now) + late, then) - late).toISOString()).to.equal(new Date(wanted).toISOString());
        });
    }

    it('begins at most 30 seconds late, the same each time, and not together with others', () => {
        const ids = Array.from({ length: 200 }, (_, n) => `mon_${n}`);
        const lates = ids.map(jitterOf);
        expect(Math.max(...lates)).to.be.below(30_000);
        expect(Math.max(...lates)).to.be.above(20_000);
        expect(new Set(lates).size).to.be.above(150);
        expect(ids.map(jitterOf)).to.deep.equal(lates);
    });

    it('has 720 runs in 30 days of every hour', () => {
        let [runs, now] = [0, at('2026-03-01T12:00:00Z')];
        const end = now + 30 * 24 * HOUR * 1000 + late;
        for (let next = nextRun(monitor(hourly), now, now); next <= end; next = nextRun(monitor(hourly), next, next)) {
            expect(next).to.be.above(now);
            now = next;
            runs += 1;
        }
        expect(runs).to.equal(720);
    });
});
