import type { App } from '../../shared/app.ts';
import { MAX_RESULT_BYTES } from '../../shared/domain/events/webhook-bounds.ts';
import { jobOf } from '../../shared/fetch/present-job.ts';
import { openBatch } from '../../shared/platform/batch.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';
import { type EventJobRow, readEventJobs } from '../../shared/store/jobs/jobs.ts';
import { openResult } from '../../shared/store/jobs/sealed.ts';
import { readDiff } from '../../shared/store/monitors/monitors.ts';
import { openText } from '../../shared/store/monitors/sealed.ts';

/** Jobs read in one query; each may have a result. */
const MAX_TOGETHER = 50;
/** The most that encryption and framing add to a result. */
const SEAL_BYTES = 1024;

interface EventBodies {
    /** Builds the JSON body of an event. It presents a job as it is now, so that deleted results are not sent. */
    build(event: Pick<DueDelivery, 'type' | 'at' | 'data' | 'about'>): Promise<string>;
    close(): Promise<void>;
}

/** Builds the bodies of events when they are sent. Jobs of concurrent calls are read in one query. */
export function openEventBodies(app: App): EventBodies {
    const jobs = openBatch<string, EventJobRow | undefined>({
        run: (ids) => readEventJobs(app.db, ids, MAX_RESULT_BYTES + SEAL_BYTES),
        maxSize: MAX_TOGETHER,
    });
    return {
        async build({ type, at, data, about }) {
            const row = about?.startsWith('job_') ? await jobs.add(about) : undefined;
            const dataText = row === undefined ? await withDiff(app, data, about) : await jobText(app, row);
            return `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(at.toISOString())},"data":${dataText}}`;
        },
        close: () => jobs.close(),
    };
}

/** Adds the diff to the event of a monitor's change. The diff is stored encrypted and not in the event. */
async function withDiff({ db, secrets }: App, data: string, about: string | null): Promise<string> {
    const sealed = about?.startsWith('chg_') ? await readDiff(db, about) : undefined;
    const diff = sealed === undefined ? undefined : await openText(secrets, 'diff', sealed);
    return diff === undefined ? data : `${data.slice(0, -1)},"diff":${diff}}`;
}

/** The job as in GET /v1/jobs/{job_id}, without params, and without a result that is too long or private. */
async function jobText(app: App, row: EventJobRow): Promise<string> {
    const job = JSON.stringify(await jobOf(app, row));
    const { jobId, hasResult, isPrivate, result, remaining } = row;
    if (isPrivate) return job;
    const text = result === null ? null : ((await openResult(app.secrets, result, remaining ?? 0)) ?? null);
    const isIncluded = !hasResult || (text !== null && Buffer.byteLength(text) <= MAX_RESULT_BYTES);
    const last = isIncluded ? `"result":${text}` : `"result_url":${JSON.stringify(`${app.publicUrl()}/v1/jobs/${jobId}`)}`;
    return `${job.slice(0, -1)},${last}}`;
}
