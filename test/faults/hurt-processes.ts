import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { CALL_TIMEOUT_MS, type FaultBed } from '../support/fault-bed.ts';
import { expectCodes, isTooMuch, LOST } from './under-load.ts';

/** Faults of processes under load. Each function fails if a goal is missed. */

/** Long enough for a second run: a live worker notices a death after 5 to 7 s. */
const PATIENT_MS = 12_000;

/** R1, R2: kill -9 of alternating workers, at 50 calls/s. @param isPatient whether half of the callers wait for a second run */
export async function killWorkers(bed: FaultBed, { deaths, isPatient = false }: { deaths: number; isPatient?: boolean }): Promise<void> {
    const history = await bed.load({
        perSecond: 50,
        timeoutsMs: isPatient ? [CALL_TIMEOUT_MS, PATIENT_MS] : [CALL_TIMEOUT_MS],
        until: (async () => {
            for (let death = 0; death < deaths; death++) {
                await sleep(150);
                await bed.workers[death % 2]?.end('SIGKILL');
                await bed.startWorker(death % 2);
            }
            await sleep(300);
        })(),
    });
    // A worker that just started may send a call so late that its deadline passes before the site answers.
    expectCodes(bed, history, [...LOST, 'UPSTREAM_TIMEOUT']);
    expect(history.some(({ code }) => code === 'success')).to.equal(true);
    if (isPatient) expect(history.filter(({ id }) => bed.seen.get(id) === 2)).to.have.length.above(0);
    await bed.check();
}

/** R3: SIGSTOP of alternating workers, and SIGCONT when all their callers have left. */
export async function pauseWorkers(bed: FaultBed, { pauses, ms = CALL_TIMEOUT_MS + 1000 }: { pauses: number; ms?: number }): Promise<void> {
    for (let pause = 0; pause < pauses; pause++) {
        const history = await bed.load({
            perSecond: 30,
            until: (async () => {
                await sleep(200);
                bed.workers[pause % 2]?.signal('SIGSTOP');
                await sleep(ms);
                bed.workers[pause % 2]?.signal('SIGCONT');
                await sleep(500);
            })(),
        });
        expectCodes(bed, history, LOST);
        await bed.check();
    }
}

/** R19: SIGTERM and a new start of APIs and workers, two of one kind and then two of the other. */
export async function replaceAll(bed: FaultBed, { restarts }: { restarts: number }): Promise<void> {
    const history = await bed.load({
        perSecond: 40,
        until: (async () => {
            for (let restart = 0; restart < restarts; restart++) {
                const index = restart % 2;
                const isApi = restart % 4 < 2;
                const began = performance.now();
                expect(await (isApi ? bed.apis : bed.workers)[index]?.end('SIGTERM')).to.equal(0);
                expect(performance.now() - began).to.be.below(CALL_TIMEOUT_MS + 2000 + bed.spareMs);
                await (isApi ? bed.startApi(index) : bed.startWorker(index));
            }
        })(),
    });
    const lost = history.filter((entry) => entry.code !== 'success' && !bed.wasRefused(entry) && !isTooMuch(bed, entry));
    expect(lost).to.deep.equal([]);
    await bed.check({ maySend: 1, mayBreak: true });
}
