import { type Loaded, runLoad, type Watched } from '../load/load.ts';
import type { LoadPlan } from '../load/plan.ts';
import type { Figures } from '../results.ts';
import { fetchBodies, fetchBodiesOf, SITE } from '../stack/package.ts';
import type { Service, Stack } from '../stack/stack.ts';
import type { Bench, Round, Scenario } from './scenario.ts';

type Pace = LoadPlan['pace'];

/** Durations of one repetition. `npm run bench -- --quick` only checks that everything works. */
export function times(bench: Bench, measuredMs: number): Pick<LoadPlan, 'warmupMs' | 'measuredMs'> {
    return bench.isQuick ? { warmupMs: 400, measuredMs: 1000 } : { warmupMs: 1500, measuredMs };
}

/** The processes of the production topology. */
export function production({ production: { api, workers }, redis, postgres }: Stack): Record<string, Watched> {
    const numbered = workers.map((worker, index): [string, Watched] => [`worker${index === 0 ? '' : index + 1}`, worker]);
    return { api, ...Object.fromEntries(numbered), redis, postgres: { pid: postgres.pid, children: true } };
}

/** Loads a topology with fetches of these endpoints. */
export async function fetches(
    bench: Bench,
    load: { service: Service; watched: Record<string, Watched>; site?: string; endpoints: string[]; pace: Pace; measuredMs: number },
): Promise<Figures> {
    const { service, watched, site = SITE, endpoints, pace, measuredMs } = load;
    const plan = {
        url: `${service.base}/v1/fetch`,
        headers: { authorization: `Bearer ${service.apiKey}` },
        bodies: fetchBodiesOf(site, endpoints),
        pace,
        ...times(bench, measuredMs),
    };
    const { onMeasured: whileLoaded } = bench;
    const options = whileLoaded === undefined ? {} : { whileLoaded };
    const loaded = await runLoad(plan, { ...watched, upstream: bench.stack.upstreamProcess }, options);
    return figuresOf(loaded);
}

/** CPU per call of each process of the product, without the upstream. */
export function figuresOf({ figures, cpu, loadCpu, busyCores }: Loaded<string>): Figures {
    const { upstream = 0, ...product } = cpu;
    const perCall = (seconds: number) => (seconds * 1e6) / figures.count;
    const whole = Object.values(product).reduce((sum, seconds) => sum + seconds, 0);
    const seconds = figures.count / figures.perSecond;
    return {
        count: figures.count,
        per_second: figures.perSecond,
        p50_ms: figures.p50,
        p90_ms: figures.p90,
        p99_ms: figures.p99,
        max_ms: figures.max,
        failed_per_1000: (1000 * figures.failed) / (figures.failed + figures.count),
        cpu_us: perCall(whole),
        ...Object.fromEntries(Object.entries(product).map(([name, value]) => [`cpu_${name}_us`, perCall(value)])),
        busy_cores: busyCores,
        others_cores: Math.max(0, busyCores - (whole + upstream + loadCpu) / seconds),
    };
}

/** got alone against the upstream. `cpu_us` is that of got. */
export async function bareGot(bench: Bench, inFlight: number): Promise<Figures> {
    const plan = { url: `${bench.stack.upstream}/items/1`, headers: {}, bodies: [], pace: { inFlight }, ...times(bench, 3000) };
    const loaded = await runLoad(plan, {}, { driver: 'bare-got' });
    return { ...figuresOf(loaded), cpu_us: (loaded.loadCpu * 1e6) / loaded.figures.count };
}

async function bareHapi(bench: Bench): Promise<Figures> {
    const plan = { url: `${bench.stack.bareHapi}/v1/fetch`, headers: {}, bodies: fetchBodies('item'), pace: { inFlight: 64 } };
    return figuresOf(await runLoad({ ...plan, ...times(bench, 2000) }, { hapi: bench.stack.bareHapiProcess }));
}

/** A load of one endpoint through the API and its workers. */
function throughProduction(
    name: string,
    endpoint: string,
    pace: Pace | ((bench: Bench) => Pace),
    measuredMs: number,
    site = SITE,
): Scenario {
    return {
        name,
        run: (bench) =>
            fetches(bench, {
                service: bench.stack.production,
                watched: production(bench.stack),
                site,
                endpoints: [endpoint],
                pace: typeof pace === 'function' ? pace(bench) : pace,
                measuredMs,
            }),
    };
}

function throughEmbedded(name: string, inFlight: number, measuredMs: number): Scenario {
    return {
        name,
        run: (bench) => {
            const { embedded, postgres } = bench.stack;
            const watched = { product: embedded.all, postgres: { pid: postgres.pid, children: true } };
            return fetches(bench, { service: embedded, watched, endpoints: ['item'], pace: { inFlight }, measuredMs });
        },
    };
}

/** Warm-up time. Without it the first repetition includes JIT compilation (2,157 against 1,750 µs per fetch). */
const WARM_MS = 25_000;

/** Warms the service up, except with `--quick`. */
export async function warm(bench: Bench): Promise<void> {
    if (bench.isQuick) return;
    const { production: service } = bench.stack;
    await fetches(bench, { service, watched: {}, endpoints: ['item', 'products'], pace: { inFlight: 64 }, measuredMs: WARM_MS });
}

/** P1, P2, P3: a fetch against got alone, in turns. */
export const COMPARISON: Round = {
    name: 'fetches',
    open: async (bench) => {
        await warm(bench);
        return async () => undefined;
    },
    scenarios: [
        { name: 'got_64', run: (bench) => bareGot(bench, 64) },
        throughProduction('fetch_64', 'item', { inFlight: 64 }, 6000),
        throughProduction('select_64', 'products', { inFlight: 64 }, 5000),
        { name: 'hapi_64', run: bareHapi },
        throughEmbedded('embedded_64', 64, 4000),
        { name: 'got_1', run: (bench) => bareGot(bench, 1) },
        throughProduction('fetch_1', 'item', { inFlight: 1 }, 3000),
        throughEmbedded('embedded_1', 1, 3000),
        throughProduction('slow_128', 'slow_50', { inFlight: 128 }, 4000),
    ],
};

/** P4: evenly spaced calls at 70 % of the highest measured rate. */
export const STEADY: Round = {
    name: 'fetches',
    scenarios: [
        throughProduction('steady_fast', 'item', (bench) => ({ perSecond: 0.7 * bench.median('fetch_64', 'per_second') }), 6000),
        throughProduction('steady_slow', 'slow_50', (bench) => ({ perSecond: 0.7 * bench.median('slow_128', 'per_second') }), 6000),
    ],
};

const SLOTS = 16;

/** P5: several workers with few slots each, with 1.5 calls in flight per slot. */
export const WORKERS: Round = {
    name: 'fetches',
    scenarios: [1, 2, 4].map((count) => ({
        name: `workers_${count}`,
        async run(bench) {
            await bench.stack.replaceWorkers(count, { WORKER_CONCURRENCY: String(SLOTS) });
            return fetches(bench, {
                service: bench.stack.production,
                watched: production(bench.stack),
                endpoints: ['slow_50'],
                pace: { inFlight: count * SLOTS * 1.5 },
                measuredMs: 4000,
            });
        },
    })),
    open: async (bench) => () => bench.stack.replaceWorkers(1),
};
