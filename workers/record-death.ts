import type { App } from '../shared/app.ts';
import type { FetchJob } from '../shared/domain/fetch.ts';
import { lastSuccess } from '../shared/store/last-success.ts';

/** The caller of the dead worker waits meanwhile. */
const PATIENCE_MS = 1000;
/**
 * For so long a second run was under way, at the least: its lock had to run out. What is known of the call, when it was admitted, lies
 * before the death of its first run, which counts.
 */
const LEAST_RUN_MS = 4500;

/**
 * Notes that a worker died in the middle of this job. The endpoint is quarantined with the second death, where it did not succeed
 * in between: a busy endpoint is at hand whenever a worker dies, and is not what killed it.
 */
export async function recordDeath({ quarantine, db, log }: App, job: FetchJob): Promise<void> {
    const { site, endpoint, versionId, run, admittedAt } = job;
    const fields = { part: 'quarantine', site, endpoint, version_id: versionId };
    const record = async () => {
        const lastSuccessAt = await lastSuccess(db, site, endpoint);
        const ageMs = run > 1 ? LEAST_RUN_MS : Math.max(0, Date.now() - admittedAt);
        const death = { versionId, endpoint, ageMs, lastSuccessAt };
        if (await quarantine.recordDeath(death)) log.error(fields, 'an endpoint killed two workers; it is not called for an hour');
    };
    let patience: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((_, fail) => {
        patience = setTimeout(() => fail(new Error(`not within ${PATIENCE_MS} ms`)), PATIENCE_MS);
    });
    await Promise.race([record(), tooLong])
        .catch((error: unknown) => log.warn({ ...fields, err: error }, 'the death of a worker was not recorded'))
        .finally(() => clearTimeout(patience));
}
