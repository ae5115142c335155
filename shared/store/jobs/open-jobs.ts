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

const OPEN = 'status, batch_id, waiting_for, started_at, due_at';

/** Raw: each part of the union uses an index of its own: claimed jobs, other jobs, other items of batches. */
const COUNT = `
    select state, count(*) as jobs, greatest(0, extract(epoch from app_now() - min(since)))::float8 as "oldestSeconds"
    from (
        select case when j.status = 'running' then 'running' when b.status <> 'running' then 'paused' when j.due_at > app_now() then 'later'
                    else coalesce(b.waiting_for, j.waiting_for, 'worker') end as state,
               case when j.status = 'running' then j.started_at else j.due_at end as since
        from (
            select ${OPEN} from jobs where operation is not null
            union all select ${OPEN} from jobs where finished_at is null and operation is null and batch_id is null
            union all select ${OPEN} from jobs where finished_at is null and operation is null and batch_id is not null
        ) j left join batches b using (batch_id)
    ) o group by state`;

/** Counts open jobs of all accounts, including items of batches, by state. */
export async function countOpenJobs(db: Db): Promise<OpenJobs[]> {
    const { rows } = await db.raw<{ rows: OpenJobs[] }>(COUNT);
    const found = new Map(rows.map((row) => [row.state, row]));
    return STATES.map((state) => found.get(state) ?? { state, jobs: 0, oldestSeconds: 0 });
}
