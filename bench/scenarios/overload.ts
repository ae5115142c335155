import { setTimeout as sleep } from 'node:timers/promises';
import type { OverloadFigures, OverloadPlan } from '../load/overload.ts';
import { END } from '../load/plan.ts';
import type { Figures } from '../results.ts';
import { SITE } from '../stack/package.ts';
import { startNode } from '../stack/processes.ts';
import { fetches, production, times, warm } from './fetches.ts';
import type { Bench, Round } from './scenario.ts';

const TIMES_TOO_MUCH = 5;
/** Fetches a second before and after the overload. */
const IDLE_PER_SECOND = 60;
const IDLE_MS = 8000;
/** Recovery time after the overload, in milliseconds. */
const REST_MS = 5000;
const TIMEOUT_MS = 2000;

/** L8, L9: five times the highest rate for a minute, as an open loop, and latency before and soon after. */
export const OVERLOAD: Round = {
    name: 'overload',
    scenarios: [{ name: 'overload', run: overload }],
    open: async (bench) => {
        await warm(bench);
        return async () => undefined;
    },
};

async function overload(bench: Bench): Promise<Figures> {
    const greatest = await load(bench, { inFlight: 64 }, 6000);
    const before = await load(bench, { perSecond: IDLE_PER_SECOND }, IDLE_MS);
    const { upstream, production: service } = bench.stack;
    await lateCalls(upstream);
    const perSecond = TIMES_TOO_MUCH * (greatest['per_second'] ?? 0);
    const offeredMs = bench.isQuick ? 10_000 : 60_000;
    const offered = await offer({ ...service, site: SITE, endpoint: 'item', perSecond, offeredMs, timeoutMs: TIMEOUT_MS });
    const late = await lateCalls(upstream);
    if (late.watched < offered.good) throw new Error(`the site saw ${late.watched} of ${offered.good} calls`);
    await sleep(REST_MS - times(bench, 0).warmupMs);
    const after = await load(bench, { perSecond: IDLE_PER_SECOND }, IDLE_MS);
    const goodPerSecond = (offered.good * 1000) / offeredMs;
    return {
        greatest_per_second: greatest['per_second'] ?? Number.NaN,
        offered_per_second: perSecond,
        good_per_second: goodPerSecond,
        good_share: goodPerSecond / (greatest['per_second'] ?? Number.NaN),
        good_p50_ms: offered.goodP50,
        good_p99_ms: offered.goodP99,
        refused_per_second: (offered.refused * 1000) / offeredMs,
        refused_p50_ms: offered.refusedP50,
        refused_p99_ms: offered.refusedP99,
        refused_max_ms: offered.refusedMax,
        without_retry_after: offered.mute,
        other_answers: offered.others,
        late_calls: late.late,
        before_p99_ms: before['p99_ms'] ?? Number.NaN,
        after_p99_ms: after['p99_ms'] ?? Number.NaN,
    };
}

function load(bench: Bench, pace: { inFlight: number } | { perSecond: number }, measuredMs: number): Promise<Figures> {
    return fetches(bench, { service: bench.stack.production, watched: production(bench.stack), endpoints: ['item'], pace, measuredMs });
}

async function offer({ base, apiKey, site, endpoint, perSecond, offeredMs, timeoutMs }: OverloadPlan): Promise<OverloadFigures> {
    const plan: OverloadPlan = { base, apiKey, site, endpoint, perSecond, offeredMs, timeoutMs };
    const caller = startNode('bench/load/overload.ts', [JSON.stringify(plan)]);
    try {
        await caller.line(END);
        const figures = JSON.parse(await caller.line('"offered"')) as OverloadFigures;
        if (figures.others > 0) process.stderr.write(`${figures.others} other answers; the first: ${figures.firstOther}\n`);
        return figures;
    } finally {
        await caller.stop();
    }
}

/** Counts the calls with a deadline that reached the upstream since the last report, and the late ones among them. */
async function lateCalls(upstream: string): Promise<{ watched: number; late: number }> {
    return (await (await fetch(`${upstream}/late`)).json()) as { watched: number; late: number };
}
