import type { App } from '../../shared/app.ts';
import { MOST_RESULT_BYTES } from '../../shared/domain/events/webhook-bounds.ts';
import { jobOf } from '../../shared/fetch/present-job.ts';
import { openBatch } from '../../shared/platform/batch.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';
import { type EventJobRow, readEventJobs } from '../../shared/store/jobs/jobs.ts';
import { openResult } from '../../shared/store/jobs/sealed.ts';
import { readDiff } from '../../shared/store/monitors/monitors.ts';
import { openText } from '../../shared/store/monitors/sealed.ts';

/** Jobs that are read together; each may have a result. */
const MOST_TOGETHER = 50;
/** What encryption and its own notes add to a result, at most. */
const SEAL_BYTES = 1024;

export interface EventBodies {
    /** The body of an event as JSON text. A job is told as it is now, so that a deleted result is not told. */
    build(event: Pick<DueDelivery, 'type' | 'at' | 'data' | 'about'>): Promise<string>;
    close(): Promise<void>;
}

/** Builds the bodies of events when they are sent. Jobs of one turn are read together. */
export function openEventBodies(app: App): EventBodies {
    const jobs = openBatch<string, EventJobRow | undefined>({
        run: (ids) => readEventJobs(app.db, ids, MOST_RESULT_BYTES + SEAL_BYTES),
        maxSize: MOST_TOGETHER,
    });
    return {
        async build({ type, at, data, about }) {
            const row = about?.startsWith('job_') ? await jobs.add(about) : undefined;
            const told = row === undefined ? await withDiff(app, data, about) : await jobText(app, row);
            return `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(at.toISOString())},"data":${told}}`;
        },
        close: () => jobs.close(),
    };
}

/** A change of a monitor is told with what changed, which is stored encrypted and not with the event. */
async function withDiff({ db, secrets }: App, data: string, about: string | null): Promise<string> {
    const sealed = about?.startsWith('chg_') ? await readDiff(db, about) : undefined;
    const diff = sealed === undefined ? undefined : await openText(secrets, 'diff', sealed);
    return diff === undefined ? data : `${data.slice(0, -1)},"diff":${diff}}`;
}

/** What GET /v1/jobs/{job_id} answers, without params, and without a result that is too long or somebody's own. */
async function jobText(app: App, row: EventJobRow): Promise<string> {
    const job = JSON.stringify(await jobOf(app, row));
    const { jobId, hasResult, isPrivate, result, remaining } = row;
    if (isPrivate) return job;
    const text = result === null ? null : ((await openResult(app.secrets, result, remaining ?? 0)) ?? null);
    const isTold = !hasResult || (text !== null && Buffer.byteLength(text) <= MOST_RESULT_BYTES);
    const last = isTold ? `"result":${text}` : `"result_url":${JSON.stringify(`${app.publicUrl()}/v1/jobs/${jobId}`)}`;
    return `${job.slice(0, -1)},${last}}`;
}
