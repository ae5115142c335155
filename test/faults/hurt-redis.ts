import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { FaultBed } from '../support/fault-bed.ts';
import type { Entry } from '../support/fault-caller.ts';
import { expectCodes, REFUSED_OR_LOST, untilGood } from './under-load.ts';

/** Faults of Redis under load. Each function fails if a goal is missed. */

/** A refusal comes within 300 ms, and what a busy machine adds. */
const SOON_MS = 300;
const BUSY_MS = 200;

/** R4: kill -9, and a restart after this many seconds. */
export async function killRedis(bed: FaultBed, { seconds }: { seconds: number }): Promise<void> {
    await duringOutage(bed, {
        ms: seconds * 1000,
        // The lost connection must be noticed first.
        unnoticedMs: 300,
        begin: () => bed.redis.kill(),
        end: () => bed.redis.start(),
    });
}

/** R5: every byte is dropped, and no connection ends; noticed within 3 s. */
export async function silenceRedis(bed: FaultBed, { seconds }: { seconds: number }): Promise<void> {
    await duringOutage(bed, {
        ms: seconds * 1000,
        unnoticedMs: 3000,
        begin: async () => bed.redisRelay.silence(),
        end: async () => bed.redisRelay.speak(),
    });
}

/** R6: no memory left for writes, for this long. */
export async function fillRedis(bed: FaultBed, { ms }: { ms: number }): Promise<void> {
    let [full, empty] = [0, 0];
    const history = await bed.load({
        perSecond: 30,
        until: (async () => {
            await sleep(300);
            await command(bed, 'config', 'set', 'maxmemory', '1');
            full = performance.now();
            await sleep(ms);
            empty = performance.now();
            await command(bed, 'config', 'set', 'maxmemory', '0');
            expect(await untilGood(bed, 1)).to.be.below(2000 + bed.spareMs);
        })(),
    });
    expectCodes(bed, history, REFUSED_OR_LOST);
    expectSoon(bed, during(bed, history, full, empty));
    await bed.check();
}

/** R7: all data is deleted, several times. */
export async function emptyRedis(bed: FaultBed, { times }: { times: number }): Promise<void> {
    const history = await bed.load({
        perSecond: 40,
        until: (async () => {
            for (let time = 0; time < times; time++) {
                await sleep(200);
                await command(bed, 'flushall');
            }
            await sleep(300);
        })(),
    });
    expectCodes(bed, history, REFUSED_OR_LOST);
    expect(await untilGood(bed, 0)).to.be.below(2000 + bed.spareMs);
    await bed.check();
}

/** Calls in flight end before their deadline, new ones are refused soon, and the first success comes within 2 s of its return. */
async function duringOutage(
    bed: FaultBed,
    { ms, unnoticedMs, begin, end }: { ms: number; unnoticedMs: number; begin(): Promise<void>; end(): Promise<void> },
): Promise<void> {
    let [noticed, back, goodAfter] = [0, 0, 0];
    const history = await bed.load({
        perSecond: 40,
        until: (async () => {
            await sleep(500);
            await begin();
            noticed = performance.now() + unnoticedMs;
            await sleep(ms);
            back = performance.now();
            await end();
            goodAfter = Math.max(...(await Promise.all([untilGood(bed, 0), untilGood(bed, 1)])));
            await sleep(500);
        })(),
    });
    expectCodes(bed, history, REFUSED_OR_LOST);
    expectSoon(bed, during(bed, history, noticed, back));
    expect(goodAfter).to.be.below(2000 + bed.spareMs);
    await bed.check();
}

/** The calls between these times that had to be refused; if times are not checked, those that ended between them. */
function during({ mayRefuse }: FaultBed, history: readonly Entry[], from: number, until: number): Entry[] {
    return history.filter(({ sentAt, ms }) => sentAt > from && (mayRefuse ? sentAt + ms < until : sentAt < until - SOON_MS - BUSY_MS));
}

function expectSoon(bed: FaultBed, refused: readonly Entry[]): void {
    expect(refused).to.have.length.above(0);
    for (const { code, ms, retryAfter } of refused) {
        expect(code).to.equal('SERVICE_UNAVAILABLE');
        expect(ms).to.be.below(SOON_MS + bed.spareMs);
        expect(retryAfter).to.match(/^\d+$/);
    }
}

async function command({ redis }: FaultBed, ...words: string[]): Promise<void> {
    await promisify(execFile)('redis-cli', ['-p', String(redis.port), ...words]);
}
