import type { App } from '../shared/app.ts';
import type { FetchJob } from '../shared/domain/fetch/fetch-job.ts';
import { within } from '../shared/platform/within.ts';
import { lastSuccess } from '../shared/store/usage/traffic.ts';

/** The dead worker's caller waits for this. */
const PATIENCE_MS = 1000;
/** Minimum run time of a second run: its lock had to expire. The admission time cannot tell, because it is before the first run's death. */
const MIN_RUN_MS = 4500;

/**
 * Records that a worker died during this job. The second death quarantines the endpoint, unless it succeeded in between: a busy
 * endpoint runs whenever a worker dies, and is not the cause.
 */
export async function recordDeath({ quarantine, db, log }: App, job: FetchJob): Promise<void> {
    const { site, endpoint, versionId, run, admittedAt } = job;
    const fields = { part: 'quarantine', site, endpoint, version_id: versionId };
    const record = async () => {
        const lastSuccessAt = await lastSuccess(db, site, endpoint);
        const ageMs = run > 1 ? MIN_RUN_MS : Math.max(0, Date.now() - admittedAt);
        const death = { versionId, endpoint, ageMs, lastSuccessAt };
        if (await quarantine.recordDeath(death)) log.error(fields, 'an endpoint killed two workers; it is not called for an hour');
    };
    await within(PATIENCE_MS, record(), () => {
        throw new Error(`timed out after ${PATIENCE_MS} ms`);
    }).catch((error: unknown) => log.warn({ ...fields, err: error }, 'the death of a worker was not recorded'));
}
