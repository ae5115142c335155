import type { QueuedJob } from '../../../shared/coordination/queue/queue.ts';

interface SiteJobs {
    site: string;
    state: QueuedJob['state'];
    jobs: number;
    /** Of the oldest one, whole seconds. */
    oldestSeconds: number;
}

/** Jobs by site and state, those with the oldest job first. @param now milliseconds since the epoch, real time */
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
