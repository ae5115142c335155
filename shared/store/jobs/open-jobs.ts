import { WAITING_FOR } from '../../domain/jobs/states.ts';
import type { Db } from '../../platform/db.ts';

/** The counted states. Jobs paused by an operator count as `worker`. */
const STATES = ['running', 'worker', 'later', 'paused', ...WAITING_FOR.filter((reason) => reason !== 'operator')] as const;

interface OpenJobs {
    state: (typeof STATES)[number];
    jobs: number;
    /** How long the oldest of these jobs has been running or ready, in seconds; 0 if there is none. */
    oldestSeconds: number;
}

/** Raw: each half of the union uses its own index. */
const COUNT = `
    select state, count(*) as jobs, greatest(0, extract(epoch from app_now() - min(since)))::float8 as "oldestSeconds"
    from (
        select 'running' as state, j.started_at as since from jobs j where j.operation is not null and j.status = 'running'
        union all
        select case when b.status <> 'running' then 'paused' when j.due_at > app_now() then 'later'
                    else coalesce(b.waiting_for, j.waiting_for, 'worker') end, j.due_at
        from jobs j left join batches b using (batch_id) where j.status = 'queued'
    ) o group by state`;

/** Counts open jobs of all accounts, including items of batches, by state. */
export async function countOpenJobs(db: Db): Promise<OpenJobs[]> {
    const { rows } = await db.raw<{ rows: OpenJobs[] }>(COUNT);
    const found = new Map(rows.map((row) => [row.state, row]));
    return STATES.map((state) => found.get(state) ?? { state, jobs: 0, oldestSeconds: 0 });
}
