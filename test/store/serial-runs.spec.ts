import { expect } from 'chai';
import { createSerialRuns } from '../../shared/platform/serial-runs.ts';

describe('work that runs serially', () => {
    it('answers each caller after the next run, while others keep calling', async () => {
        let begun = 0;
        let atOnce = 0;
        const runs = createSerialRuns(async () => {
            begun += 1;
            atOnce += 1;
            expect(atOnce).to.equal(1);
            await Promise.resolve();
            // Somebody asks for a run during each run, for a while.
            if (begun < 50) void runs.now();
            await Promise.resolve();
            atOnce -= 1;
        });
        await runs.now();
        expect(begun, 'a call with no run before it').to.be.below(5);
        await runs.now();
        expect(begun, 'a call during a run').to.be.below(10);
        while (begun < 50) await runs.idle();
    });

    it('shares the next run among all who call during a run, and skips it if it is no longer worth it', async () => {
        let begun = 0;
        let isWorthIt = true;
        const work = async () => {
            begun += 1;
            await Promise.resolve();
        };
        const runs = createSerialRuns(work, () => isWorthIt);
        await Promise.all([runs.now(), runs.now(), runs.now()]);
        expect(begun).to.equal(2);
        const again = [runs.now(), runs.now()];
        isWorthIt = false;
        await Promise.all(again);
        expect(begun).to.equal(3);
    });

    it('runs again after a run that failed', async () => {
        let begun = 0;
        const runs = createSerialRuns(async () => {
            begun += 1;
            await Promise.resolve();
            if (begun === 1) throw new Error('no connection');
        });
        const [first, second] = await Promise.allSettled([runs.now(), runs.now()]);
        expect([first.status, second.status]).to.deep.equal(['rejected', 'fulfilled']);
        expect(begun).to.equal(2);
    });
});
