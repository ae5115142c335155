import { data, getRequest, listItems, Resource, writeRequest } from './calls.ts';
import { failureOf, RoutebookError } from './errors.ts';
import type { Listing } from './listing.ts';
import type { CallOptions } from './transport.ts';
import type { FetchAnswer, FetchOrder, Job, JobsQuery, JsonObject } from './types.ts';

/** The call and options of a new job. */
export type JobOrder = Omit<FetchOrder, 'dry_run'> & {
    metadata?: Readonly<Record<string, string>>;
    /** Seconds that it may wait to start, 60 to 86,400; 3,600 by default. */
    expires_in?: number;
};

/** A created job: await it for the job as accepted, or await its `result()`. */
export interface OrderedJob<Data> extends Promise<Job> {
    /** Waits for the end, however long that takes. @throws RoutebookError the error that a fetch would have had */
    result(options?: CallOptions): Promise<Omit<FetchAnswer, 'success' | 'data'> & { data: Data }>;
}

/** Seconds that one read waits for the end. */
const WAIT = 30;

/** Queued calls. The key needs the scope jobs. */
export class Jobs extends Resource {
    /** Creates a job: `await jobs.create({…})` returns the job, `await jobs.create({…}).result()` its result. */
    create<Data = JsonObject>(order: JobOrder, options?: CallOptions): OrderedJob<Data> {
        const ordered = data<Job>(this.transport, { ...writeRequest('POST', '/v1/jobs'), body: order }, options);
        const result: OrderedJob<Data>['result'] = async (each) => {
            const { job_id: id } = await ordered;
            return (await this.wait(id, each)) as never;
        };
        return Object.assign(ordered, { result });
    }

    /** @param wait seconds to wait for its end */
    get(jobId: string, { wait }: { wait?: number } = {}, options?: CallOptions): Promise<Job> {
        return data(this.transport, { ...getRequest(pathOf(jobId)), query: { wait } }, options);
    }

    /** Newest first, including items of batches. */
    list(query: Omit<JobsQuery, 'cursor'> = {}, options?: CallOptions): Listing<Job> {
        return listItems(this.transport, '/v1/jobs', { ...query }, options, true);
    }

    /** Cancels a queued job or a running read. */
    cancel(jobId: string, options?: CallOptions): Promise<Job> {
        return data(this.transport, writeRequest('DELETE', pathOf(jobId)), options);
    }

    deleteResult(jobId: string, options?: CallOptions): Promise<Job> {
        return data(this.transport, writeRequest('DELETE', `${pathOf(jobId)}/result`), options);
    }

    /** Waits for the end of a job. @throws RoutebookError the error that a fetch would have had */
    async wait(jobId: string, options?: CallOptions): Promise<JsonObject> {
        for (;;) {
            const job = await this.get(jobId, { wait: WAIT }, options);
            if (job.status === 'succeeded' && job.result) return job.result;
            if (job.status !== 'queued' && job.status !== 'running') throw failureOfJob(job);
        }
    }
}

export function failureOfJob({ job_id: id, status, error }: Job): RoutebookError {
    if (error !== null) return new RoutebookError(failureOf(error.status, { error }, null));
    const why = status === 'succeeded' ? 'Its result is deleted.' : `It is ${status}.`;
    return new RoutebookError({ code: 'NO_RESULT', message: `The job ${id} has no result. ${why}` });
}

function pathOf(jobId: string): string {
    return `/v1/jobs/${encodeURIComponent(jobId)}`;
}
