import type { QueuedJob } from '../../../shared/coordination/queue/queue.ts';

interface SiteJobs {
    site: string;
    state: QueuedJob['state'];
    jobs: number;
    /** Age of the oldest job, in whole seconds. */
    oldestSeconds: number;
}

/** Groups jobs by site and state. Groups with the oldest job come first. @param now real time, in milliseconds since the epoch */
export function jobsBySite(jobs: readonly QueuedJob[], now: number): SiteJobs[] {
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
