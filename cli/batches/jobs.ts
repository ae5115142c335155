import { defined } from '../../shared/domain/defined.ts';
import { table } from '../../shared/platform/table.ts';
import { type CallOptions, paramsOfCall, requestFieldsOf } from '../calling/fetch-endpoint.ts';
import { failureOfJob, type Job, type JobOrder, type JobStatus } from '../client/index.ts';
import { type Done, done, PATIENT, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';

interface JobOptions extends CallOptions {
    expiresIn?: number;
    wait?: true;
}

export async function addJob(session: Session, site: string, endpoint: string, options: JobOptions): Promise<Done> {
    const { expiresIn, wait } = options;
    const client = session.client();
    const params = await paramsOfCall(client, site, endpoint, options);
    const order = { site, endpoint, params, ...requestFieldsOf(options), expires_in: expiresIn };
    const job = await client.jobs.create(defined<JobOrder>(order));
    if (wait === true) return showJob(session, job.job_id, { wait });
    return { result: job, lines: [job.job_id, `Get the result: ${PROGRAM} job show ${job.job_id} --wait`] };
}

export async function listJobs(
    { client, terminal }: Session,
    { status, site, batch, limit }: { status?: JobStatus; site?: string; batch?: string; limit: number },
): Promise<Done> {
    let jobs: Job[] = [];
    // With a filter, pages before the first match are empty.
    for await (const { items } of client()
        .jobs.list(defined({ limit, status, site, batch_id: batch }))
        .pages()) {
        jobs = items;
        if (jobs.length > 0) break;
    }
    const result = { jobs };
    if (jobs.length === 0) return { result, lines: ['No jobs.', `Queue one: ${PROGRAM} job add SITE ENDPOINT`] };
    // A code says that the job failed, and leaves room for the rest of the row.
    const rows = jobs.map((one) => [one.job_id, one.error?.code ?? one.status, one.endpoint, one.site, one.created_at, one.credits_used]);
    return { result, lines: table(['job', 'status', 'endpoint', 'site', 'created', 'credits'], rows, terminal) };
}

/** `routebook job show ID`: shows a job. With `--wait` it waits until the job has ended. */
export async function showJob({ client }: Session, jobId: string, { wait }: { wait?: true }): Promise<Done> {
    let job = await client().jobs.get(jobId);
    const { jobs } = client(PATIENT);
    while (wait === true && (job.status === 'queued' || job.status === 'running')) job = await jobs.get(jobId, { wait: 30 });
    if (wait === true && job.status !== 'succeeded') throw failureOfJob(job);
    return { result: job, lines: [JSON.stringify(job, undefined, 2)] };
}

export async function cancelJob({ client, terminal }: Session, jobId: string): Promise<Done> {
    return done(await client().jobs.cancel(jobId), terminal, `job ${jobId} is cancelled`);
}
