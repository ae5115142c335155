import type { App } from '../../shared/app.ts';
import { MOST_MONITORS } from '../../shared/domain/monitors/bounds.ts';
import { pauseSurplus } from '../../shared/store/monitors/monitors.ts';
import { takeDueMonitor, takeEndedRun } from '../../shared/store/monitors/runs.ts';
import { type Repeated, repeatOnDatabase } from '../repeat.ts';
import type { Reader } from '../select/reader.ts';
import { beginDueRun } from './begin-due-run.ts';
import { endRun } from './end-run.ts';

const LOOK_MS = 500;
/** How often plans are held against the number of monitors. */
const PLANS_MS = 10_000;

/** Begins runs of monitors that are due, and ends those whose jobs have ended. Every worker may: each monitor is claimed by one. */
export function startMonitors(app: App, reader: Reader): Repeated {
    const { db, log } = app;
    let plansAt = Number.NEGATIVE_INFINITY;
    return repeatOnDatabase(log, { part: 'monitors', everyMs: LOOK_MS }, async (isStopped) => {
        if (performance.now() - plansAt > PLANS_MS) {
            await pauseSurplus(db, MOST_MONITORS);
            plansAt = performance.now();
        }
        /** An item that fails is logged; its claim runs out, and it is taken again. */
        const each = async <Item extends { monitorId: string }>(
            take: () => Promise<Item | undefined>,
            work: (item: Item) => Promise<void>,
        ) => {
            for (let item = await take(); item !== undefined; item = isStopped() ? undefined : await take()) {
                const { monitorId } = item;
                await work(item).catch((error: unknown) =>
                    log.warn(
                        { part: 'monitors', monitor_id: monitorId, err: error },
                        'a run of a monitor could not go on; it is tried again',
                    ),
                );
            }
        };
        await each(
            () => takeEndedRun(db),
            (run) => endRun(app, reader, run),
        );
        await each(
            () => takeDueMonitor(db),
            (monitor) => beginDueRun(app, monitor),
        );
    });
}
