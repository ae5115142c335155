import { deepEqual, equal } from 'node:assert/strict';
import { createJobWindow } from '../../workers/jobs/job-window.ts';

/** Milliseconds since the last live call, and delays of the event loop. */
const JUST_NOW = 5;
const LONG_AGO = 5000;
const LATE = 30;
const ON_TIME = 1;

describe('slots of jobs beside live calls', () => {
    it('are all for jobs while there are no calls, however busy the worker is', () => {
        const window = createJobWindow(100, () => LATE);
        for (let look = 0; look < 10; look++) window.adapt(LONG_AGO);
        equal(window.size(), 100);
    });

    it('halve while the event loop is late for live calls, but some remain', () => {
        const window = createJobWindow(100, () => LATE);
        const sizes = Array.from({ length: 9 }, () => {
            window.adapt(JUST_NOW);
            return window.size();
        });
        deepEqual(sizes, [50, 25, 12, 7, 7, 7, 7, 7, 7]);
    });

    it('remain for jobs that only wait for their sites', () => {
        const window = createJobWindow(100, () => ON_TIME);
        for (let look = 0; look < 10; look++) window.adapt(JUST_NOW);
        equal(window.size(), 100);
    });

    it('return when the event loop is on time again, and all at once when there are no calls', () => {
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
