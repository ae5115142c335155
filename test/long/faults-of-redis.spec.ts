import { emptyRedis, fillRedis, killRedis, silenceRedis } from '../faults/hurt-redis.ts';
import { onBed } from '../support/fault-bed.ts';

/** Full counts of what test/faults/outages.spec.ts does once. Each ends with an audit of callers, ledger and site. */
describe('two APIs and two workers', () => {
    for (const seconds of [1, 8, 30]) {
        it(
            `reject calls within 300 ms while Redis is down for ${seconds} s, and serve them within 2 s of its return (R4)`,
            onBed((bed) => killRedis(bed, { seconds })),
        );
    }

    it(
        'notice within 3 s that Redis hangs, for 10 and for 20 s, and serve calls within 2 s of its return (R5)',
        onBed(async (bed) => {
            for (const seconds of [10, 20]) await silenceRedis(bed, { seconds });
        }),
    );

    it(
        'hold no credits and say why they reject calls while Redis is full, for 10 s, three times (R6)',
        onBed(async (bed) => {
            for (let time = 0; time < 3; time++) await fillRedis(bed, { ms: 10_000 });
        }),
    );

    it(
        'lose no credit and answer every call while Redis is emptied 50 times (R7)',
        onBed((bed) => emptyRedis(bed, { times: 50 })),
    );
});
