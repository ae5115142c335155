import type { App } from '../../../shared/app.ts';
import type { QueuedJob } from '../../../shared/coordination/queue/queue.ts';
import { versionNames } from '../../../shared/store/registry/history.ts';
import { driftedSchemas } from '../../../shared/store/registry/verification.ts';
import { operatorPage, type Shown, type Visit } from '../page.ts';

/** How many jobs per state are read at most, and how many rows each list shows at most. */
const MAX_JOBS = 500;
const MAX_ROWS = 100;

/** The page about the state of the service, for operators. It changes nothing and shows no params of calls. */
export const operationsPages = [operatorPage({ method: 'GET', path: '/dashboard/operations', respond: showOperations })];

async function showOperations({ app }: Visit): Promise<Shown> {
    const known = <T>(answer: Promise<T>) => orUnavailable(app, answer);
    const [counts, oldest, jobs, workers, circuits, quarantined, drifted, ledgerDrift] = await Promise.all([
        known(app.queue.counts()),
        known(app.queue.oldestWaitSeconds()),
        known(app.queue.peek(MAX_JOBS)),
        known(app.fleet.live()),
        known(app.circuits.open()),
        known(quarantines(app)),
        known(driftedSchemas(app.browse, MAX_ROWS)),
        known(readLedgerDrift(app)),
    ]);
    return {
        view: 'operations/operations',
        title: 'Operations',
        model: {
            counts,
            oldest,
            jobs: jobs && jobsBySite(jobs, Date.now()).slice(0, MAX_ROWS),
            workers,
            slots: workers?.reduce((sum, { slots }) => sum + slots, 0),
            busy: workers?.reduce((sum, { busy }) => sum + busy, 0),
            realNow: Date.now(),
            circuits: circuits?.toSorted().slice(0, MAX_ROWS),
            quarantined,
            drifted,
            ledgerDrift,
        },
    };
}

/** Returns undefined if a store is unavailable, so that the page still shows what the other stores report. */
async function orUnavailable<T>({ log }: App, answer: Promise<T>): Promise<T | undefined> {
    try {
        return await answer;
    } catch (error) {
        log.warn({ part: 'operations', err: error }, 'a figure of the operations page could not be read');
        return undefined;
    }
}

async function quarantines({ quarantine, browse }: App) {
    const rows = await quarantine.list(MAX_ROWS);
    const names =
        rows.length === 0
            ? new Map()
            : await versionNames(
                  browse,
                  rows.map(({ versionId }) => versionId),
              );
    return rows.map((row) => ({ ...row, ...(names.get(row.versionId) ?? { site: `version ${row.versionId}`, version: 0 }) }));
}

/** Reads the gauge, which sums the ledger at most once a minute. @throws Error if the ledger was never summed yet */
async function readLedgerDrift({ metrics }: App): Promise<number> {
    const { values } = await metrics.ledgerDrift.get();
    const [{ value } = { value: Number.NaN }] = values;
    if (Number.isNaN(value)) throw new Error('the ledger was not summed yet');
    return value;
}

interface SiteJobs {
    site: string;
    state: QueuedJob['state'];
    jobs: number;
    /** Age of the oldest job, in whole seconds. */
    oldestSeconds: number;
}

/** Groups jobs by site and state. Groups with the oldest job come first. @param now real time, in milliseconds since the epoch */
function jobsBySite(jobs: readonly QueuedJob[], now: number): SiteJobs[] {
    const groups = Map.groupBy(jobs, ({ site, state }) => `${state} ${site}`);
    return [...groups.values()]
        .flatMap((group): SiteJobs[] => {
            const [first] = group;
            if (first === undefined) return [];
            const since = Math.min(...group.map((job) => job.since));
            const oldestSeconds = Math.max(0, Math.floor((now - since) / 1000));
            return [{ site: first.site, state: first.state, jobs: group.length, oldestSeconds }];
        })
        .toSorted((a, b) => b.oldestSeconds - a.oldestSeconds || (a.site < b.site ? -1 : 1));
}
