import { busySeconds, cpuSeconds, startNode } from '../stack/processes.ts';
import { BEGIN, END, type LoadFigures, type LoadPlan } from './plan.ts';

/** A process with its CPU time measured. With `children` it includes its children. */
export interface Watched {
    pid: number;
    children?: boolean;
}

export interface Loaded<Name extends string> {
    figures: LoadFigures;
    /** CPU seconds that each watched process used while it was measured. */
    cpu: Record<Name, number>;
    /** CPU seconds of the load process itself. */
    loadCpu: number;
    /** Mean number of busy cores during the measurement, with any work of the machine. */
    busyCores: number;
}

/**
 * Runs one load in a separate process and measures the watched processes meanwhile. The figures are those of successful calls; failed calls
 * are only counted. `driver` is `bare-got` for the comparison with got alone.
 */
export async function runLoad<Name extends string>(
    plan: LoadPlan,
    watched: Record<Name, Watched>,
    { driver = 'generate', whileLoaded }: { driver?: 'generate' | 'bare-got'; whileLoaded?: () => Promise<void> } = {},
): Promise<Loaded<Name>> {
    const load = startNode(`bench/load/${driver}.ts`, [JSON.stringify(plan)]);
    const names = Object.keys(watched) as Name[];
    const read = () => ({
        at: performance.now(),
        busy: busySeconds(),
        load: cpuSeconds(load.pid),
        watched: names.map((name) => cpuSeconds(watched[name].pid, watched[name])),
    });
    try {
        await load.line(BEGIN);
        const before = read();
        await whileLoaded?.();
        await load.line(END);
        const after = read();
        const figures = JSON.parse(await load.line('"perSecond"')) as LoadFigures;
        if (figures.count === 0) throw new Error(`no call succeeded, ${figures.failed} failed; the first: ${figures.firstFailure}`);
        if (figures.failed > 0) process.stderr.write(`${figures.failed} calls failed; the first: ${figures.firstFailure}\n`);
        const cpu = Object.fromEntries(names.map((name, place) => [name, (after.watched[place] ?? 0) - (before.watched[place] ?? 0)]));
        return {
            figures,
            cpu: cpu as Record<Name, number>,
            loadCpu: after.load - before.load,
            busyCores: (after.busy - before.busy) / ((after.at - before.at) / 1000),
        };
    } finally {
        await load.stop();
    }
}
