import { deepEqual, equal } from 'node:assert/strict';
import { createJobWindow } from '../../workers/jobs/job-window.ts';

/** Milliseconds since the last live call, and delays of the event loop. */
const JUST_NOW = 5;
const LONG_AGO = 5000;
const LATE = 30;
const ON_TIME = 1;

describe('slots of jobs beside live calls', () => {
    it('are all for jobs while nobody calls, however busy the worker is', () => {
        const window = createJobWindow(100, () => LATE);
        for (let look = 0; look < 10; look++) window.adapt(LONG_AGO);
        equal(window.size(), 100);
    });

    it('halve while live calls find a late worker, and some stay', () => {
        const window = createJobWindow(100, () => LATE);
        const sizes = Array.from({ length: 9 }, () => {
            window.adapt(JUST_NOW);
            return window.size();
        });
        deepEqual(sizes, [50, 25, 12, 7, 7, 7, 7, 7, 7]);
    });

    it('stay with jobs that only wait for their sites', () => {
        const window = createJobWindow(100, () => ON_TIME);
        for (let look = 0; look < 10; look++) window.adapt(JUST_NOW);
        equal(window.size(), 100);
    });

    it('come back when the worker is on time again, and all at once when nobody calls', () => {
        let delay = LATE;
        const window = createJobWindow(100, () => delay);
        for (let look = 0; look < 9; look++) window.adapt(JUST_NOW);
        delay = ON_TIME;
        const sizes = Array.from({ length: 4 }, () => {
            window.adapt(JUST_NOW);
            return window.size();
        });
        deepEqual(sizes, [8, 9, 11, 13]);
        window.adapt(LONG_AGO);
        equal(window.size(), 100);
    });
});
