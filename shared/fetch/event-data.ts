import type { App } from '../app.ts';
import { MAX_INCLUDED_BYTES } from '../domain/events/webhook-bounds.ts';
import type { Db } from '../platform/db.ts';
import { type EventJobRow, readEventJobs } from '../store/jobs/jobs.ts';
import { openResult } from '../store/jobs/sealed.ts';
import { readDiff } from '../store/monitors/monitors.ts';
import { openText } from '../store/monitors/sealed.ts';
import { listedJob } from './present-job.ts';

interface StoredEvent {
    /** JSON text. */
    data: string;
    /** Id of the object whose current state its content shows. */
    about: string | null;
}

/** The most that encryption and framing add to a result. */
const SEAL_BYTES = 1024;

export function isAboutJob(about: string | null): about is string {
    return about?.startsWith('job_') === true;
}

/** Jobs that events are about. @param included whether small results are read too */
export function readJobsOfEvents(db: Db, ids: readonly string[], included = true): Promise<(EventJobRow | undefined)[]> {
    return readEventJobs(db, ids, included ? MAX_INCLUDED_BYTES + SEAL_BYTES : 0);
}

/** The content of an event as JSON text. @param job the job that it is about; undefined if it is about no job or the job was deleted */
export async function eventData(app: App, db: Db, { data, about }: StoredEvent, job: EventJobRow | undefined): Promise<string> {
    if (job !== undefined) return jobText(app, job);
    const sealed = about?.startsWith('chg_') ? await readDiff(db, about) : undefined;
    // The diff of a monitor's change is stored encrypted and not in the event.
    const diff = sealed === undefined ? undefined : await openText(app.secrets, 'diff', sealed);
    return diff === undefined ? data : withField(data, 'diff', diff);
}

/** Adds a field to an object. @param object its JSON text @param value JSON text */
export function withField(object: string, name: string, value: string): string {
    return `${object.slice(0, -1)},${JSON.stringify(name)}:${value}}`;
}

/** The job as in GET /v1/jobs/{job_id}, without params, and without a result that is too long or private. */
async function jobText(app: App, row: EventJobRow): Promise<string> {
    const job = JSON.stringify(await listedJob(app, row));
    const { jobId, hasResult, isPrivate, result, remaining } = row;
    if (isPrivate) return job;
    const text = result === null ? null : ((await openResult(app.secrets, result, remaining ?? 0)) ?? null);
    const isIncluded = !hasResult || (text !== null && Buffer.byteLength(text) <= MAX_INCLUDED_BYTES);
    if (isIncluded) return withField(job, 'result', text ?? 'null');
    return withField(job, 'result_url', JSON.stringify(`${app.publicUrl()}/v1/jobs/${jobId}`));
}
