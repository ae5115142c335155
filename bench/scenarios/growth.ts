import { migrate } from '../../shared/migrate.ts';
import type { LoadPlan } from '../load/plan.ts';
import type { Figures } from '../results.ts';
import { fillPast, type Size } from '../stack/grown.ts';
import { openTopology, type Topology } from '../stack/topology.ts';
import { fetches } from './fetches.ts';
import type { Bench, Round } from './scenario.ts';

const FULL: Size = { accounts: 10_000, ledgerRows: 1_000_000, usageRows: 10_000_000, usageHours: 1_000_000 };
const TENTH: Size = { accounts: 1000, ledgerRows: 100_000, usageRows: 1_000_000, usageHours: 100_000 };

/** Share of the highest rate, as in P4. */
const STEADY = 0.7;
const WARM_MS = 12_000;

/** Fewer rows with `--quick` and `--tenth`; the results include the number of rows. */
const sizeOf = ({ isQuick }: Bench) => (isQuick || process.argv.includes('--tenth') ? TENTH : FULL);

let empty: Topology | undefined;
let grown: Topology | undefined;
let turn = 0;

/** P12: the same calls with an empty and with a large database, alternating. */
export const GROWTH: Round = {
    name: 'growth',
    scenarios: [{ name: 'growth', run: growth }],
    async open(bench) {
        const { isQuick } = bench;
        empty = await openFilled(bench, 'growth_empty', async () => undefined);
        grown = await openFilled(bench, 'growth_full', (url) => fillPast(url, sizeOf(bench)));
        if (!isQuick) for (const topology of [empty, grown]) await ask(bench, topology, { inFlight: 64 }, WARM_MS);
        return async () => {
            for (const topology of [empty, grown]) await topology?.stop();
        };
    },
};

/** Calls with 64 in flight, one at a time, and at 70 % of the highest rate. The databases alternate in being first. */
async function growth(bench: Bench): Promise<Figures> {
    if (empty === undefined || grown === undefined) throw new Error('the topologies are not open');
    const pair: readonly [string, Topology][] = [
        ['empty', empty],
        ['grown', grown],
    ];
    const inTurns = () => (turn++ % 2 === 0 ? pair : pair.toReversed());
    const figures: Figures = { usage_rows: sizeOf(bench).usageRows };
    const keep = (name: string, load: string, of: Figures, wanted: readonly string[]) => {
        for (const figure of wanted) figures[`${name}_${load}_${figure}`] = of[figure] ?? Number.NaN;
    };
    for (const [name, topology] of inTurns())
        keep(name, '64', await ask(bench, topology, { inFlight: 64 }, 6000), ['per_second', 'cpu_us', 'others_cores']);
    for (const [name, topology] of inTurns()) keep(name, '1', await ask(bench, topology, { inFlight: 1 }, 3000), ['p50_ms']);
    const perSecond = STEADY * Math.min(...pair.map(([name]) => figures[`${name}_64_per_second`] ?? 0));
    for (const [name, topology] of inTurns()) keep(name, 'steady', await ask(bench, topology, { perSecond }, 6000), ['p99_ms']);
    return figures;
}

function ask(bench: Bench, { watched, ...service }: Topology, pace: LoadPlan['pace'], measuredMs: number): Promise<Figures> {
    return fetches(bench, { service, watched, endpoints: ['item'], pace, measuredMs });
}

/** Opens a topology on a new database. @param fill adds the rows before the processes start */
async function openFilled({ stack }: Bench, name: string, fill: (url: string) => Promise<void>): Promise<Topology> {
    const url = await stack.postgres.createDatabase(name);
    await migrate(url);
    const began = performance.now();
    await fill(url);
    process.stdout.write(`${name} was filled in ${Math.round((performance.now() - began) / 1000)} s\n`);
    return openTopology(stack, { databaseUrl: url, postgresPid: stack.postgres.pid });
}
