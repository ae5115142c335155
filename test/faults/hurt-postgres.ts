import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { CALL_TIMEOUT_MS, type FaultBed, SITE } from '../support/fault-bed.ts';
import type { Entry } from '../support/fault-caller.ts';
import { expectCodes, FATES, untilGood } from './under-load.ts';

/** Faults of PostgreSQL under load. Each function fails if a goal is missed. */

/** R8: alternating fast and immediate restarts. */
export async function restartPostgres(bed: FaultBed, { times }: { times: number }): Promise<void> {
    const history = await bed.load({
        perSecond: 40,
        until: (async () => {
            for (let time = 0; time < times; time++) {
                await bed.postgres.stop(time % 2 === 0 ? 'fast' : 'immediate');
                const away = await bed.call({ timeoutMs: 2000 });
                expect(away).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE' });
                expect(away.ms).to.be.below(500 + bed.spareMs);
                expect(away.retryAfter).to.match(/^\d+$/);
                await bed.postgres.start();
                expect(await untilGood(bed, time % 2)).to.be.below(2000 + bed.spareMs);
                await sleep(200);
            }
        })(),
    });
    expectCodes(bed, history, FATES);
    await bed.check();
}

/** R9: half a second for each query, with more browsing callers than connections for them. They are refused, fetches are not. */
export async function slowPostgres(bed: FaultBed, { ms }: { ms: number }): Promise<void> {
    bed.databaseRelay.delay(500);
    const probes: Entry[] = [];
    const isServed = async () => {
        probes.push(await bed.call());
        return probes.at(-1)?.code === 'success';
    };
    // On a busy machine it takes longer until a fetch succeeds.
    const over = sleep(ms).then(() => eventually(isServed, Boolean, MAX_MS));
    const browsing = browse(bed, { perSecond: 60, until: over });
    const history = [...(await bed.load({ perSecond: 20, until: over })), ...probes];
    const browsed = await browsing;
    bed.databaseRelay.delay(0);
    expectCodes(bed, history, FATES);
    expect(refusedOf(history), 'share of fetches refused, against that of browsers').to.be.below(refusedOf(browsed));
    for (const { ms: took, code } of history) expect(took, code).to.be.below(CALL_TIMEOUT_MS + 250 + bed.spareMs);
    expect(browsed.map(({ code }) => code)).to.include('SERVICE_UNAVAILABLE');
    // A second for a connection, after at most two queries: whose key it is, and the first half of the request.
    expectRefused(bed, browsed, { withinMs: 1000 + 2 * 500 });
    await untilGood(bed, 0);
    await bed.check();
}

/** R9: all connections wait for a lock. Later callers wait a second for a connection, and no longer. */
export async function fillPool(bed: FaultBed, { ms }: { ms: number }): Promise<void> {
    const asked: Promise<Entry>[] = [];
    const fetched: Promise<Entry>[] = [];
    await bed.db.transaction(async (transaction) => {
        await transaction.raw('lock table credit_accounts in access exclusive mode');
        const began = performance.now();
        let refused = 0;
        const ask = async () => {
            const entry = await bed.look('/v1/account');
            if (entry.code === 'SERVICE_UNAVAILABLE') refused++;
            return entry;
        };
        for (let one = 0; one < 4 * POOL; one++) asked.push(ask());
        // On a busy machine it takes longer until all connections wait.
        while (performance.now() < began + (refused > 0 ? ms : MAX_MS)) {
            asked.push(ask());
            fetched.push(bed.call());
            await sleep(50);
        }
    });
    // The calls with a connection waited as well, and succeeded.
    const answers = await Promise.all(asked);
    expect(answers.map(({ code }) => code)).to.include('SERVICE_UNAVAILABLE');
    expectRefused(bed, answers, { withinMs: 1000 });
    // A hold is retried for 300 ms.
    expectRefused(bed, await Promise.all(fetched), { withinMs: 1000 + 300 });
    await untilGood(bed, 0);
    await bed.check();
}

const MAX_MS = 15_000;
/** Connections of each API; see shared/platform/db.ts. */
const POOL = 16;

const refusedOf = (history: readonly Entry[]) => history.filter(({ status }) => status === 503).length / history.length;

function expectRefused(bed: FaultBed, history: readonly Entry[], { withinMs }: { withinMs: number }): void {
    expectCodes(bed, history, ['success', 'SERVICE_UNAVAILABLE']);
    for (const { code, ms, retryAfter } of history) {
        if (code === 'success') continue;
        expect(ms).to.be.below(withinMs + bed.spareMs);
        expect(retryAfter).to.match(/^\d+$/);
    }
}

async function browse(bed: FaultBed, { perSecond, until }: { perSecond: number; until: Promise<unknown> }): Promise<Entry[]> {
    let isOver = false;
    const over = until.finally(() => {
        isOver = true;
    });
    const asked: Promise<Entry>[] = [];
    while (!isOver) {
        asked.push(bed.look(`/v1/schemas/${SITE}`));
        await sleep(1000 / perSecond);
    }
    await over;
    return Promise.all(asked);
}
