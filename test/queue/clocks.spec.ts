import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openStoreClock } from '../../shared/coordination/queue/store-clock.ts';
import { patienceFor } from '../support/eventually.ts';
import { aJob, eventually, isUp, openQueueFixture, type Place, type QueueFixture, silent, topologies } from './queue-fixture.ts';

const WORKER = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
const MOVED_TIME = new URL('../support/moved-time.ts', import.meta.url);
const MINUTES = 60_000;
/** Of each worker. */
const SLOTS = 8;

for (const topology of topologies) {
    describe(`the queue over ${topology} between machines whose clocks differ by minutes`, () => {
        let fixture: QueueFixture;
        const workers: { end(): Promise<void> }[] = [];

        before(async () => {
            fixture = await openQueueFixture(topology);
        });
        afterEach(async () => {
            for (const worker of workers.splice(0)) await worker.end();
            await fixture.closeAll();
        });
        after(() => fixture.remove());

        async function startWorker(aheadMs: number): Promise<void> {
            workers.push(await startWorkerAhead(fixture.place, aheadMs));
        }

        for (const minutes of [5, -5]) {
            it(`serves calls by a worker whose clock is ${minutes} minutes ahead`, async () => {
                const api = fixture.openQueue('api');
                await eventually('it is connected', () => isUp(api));
                await startWorker(minutes * MINUTES);
                const job = aJob({}, patienceFor(5000));
                const outcome = await api.run(job);
                expect(outcome).to.include({ ok: true });
                expect(outcome.startedAt).to.be.within(job.admittedAt - 1000, job.deadlineAt);
            });

            it(`cancels no job of another worker, for one whose clock is ${minutes} minutes ahead`, async function () {
                this.timeout(patienceFor(20_000));
                const api = fixture.openQueue('api');
                await eventually('it is connected', () => isUp(api));
                await Promise.all([startWorker(0), startWorker(minutes * MINUTES)]);
                // So many that each of them works.
                const jobs = Array.from({ length: 2 * SLOTS }, () => api.run(aJob({ endpoint: 'slow' }, patienceFor(15_000))));
                for (const outcome of await Promise.all(jobs)) expect(outcome).to.include({ ok: true });
            });
        }
    });
}

describe('the clock of the store', () => {
    it('is followed within a comparison, is not moved by a jump of the own clock, and tells how far that is ahead', async () => {
        let storeAhead = -5 * MINUTES;
        const warned: object[] = [];
        const log = { ...silent, warn: (fields: object) => void warned.push(fields) };
        const real = Date.now;
        const clock = openStoreClock(async () => real() + storeAhead, log);
        try {
            await clock.compare();
            expect(clock.aheadMs()).to.be.closeTo(5 * MINUTES, 1000);
            expect(clock.now()).to.be.closeTo(real() - 5 * MINUTES, 1000);
            Date.now = () => real() + 60 * MINUTES;
            expect(clock.now()).to.be.closeTo(real() - 5 * MINUTES, 1000);
            expect(clock.aheadMs()).to.be.closeTo(65 * MINUTES, 1000);
            Date.now = real;
            storeAhead = 0;
            await clock.compare();
            expect(clock.aheadMs()).to.be.closeTo(0, 1000);
            expect(warned).to.have.length(2);
        } finally {
            Date.now = real;
            clock.close();
        }
    });
});

async function startWorkerAhead(place: Place, aheadMs: number): Promise<{ end(): Promise<void> }> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-clock-'));
    writeFileSync(join(folder, 'moved'), String(aheadMs));
    const child: ChildProcess = spawn(process.execPath, [`--import=${MOVED_TIME}`, WORKER, JSON.stringify(place)], {
        env: { ...process.env, MOVED_TIME: join(folder, 'moved') },
        stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (child.stdout !== null) await once(child.stdout, 'data');
    return {
        async end() {
            const gone = once(child, 'exit');
            child.kill('SIGKILL');
            await gone;
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
