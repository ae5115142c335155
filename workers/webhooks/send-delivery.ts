import { Webhook } from 'standardwebhooks';
import type { App } from '../../shared/app.ts';
import { MAX_INCLUDED_BYTES } from '../../shared/domain/events/webhook-bounds.ts';
import { listedJob } from '../../shared/fetch/present-job.ts';
import { openBatch } from '../../shared/platform/batch.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';
import { WEBHOOK_PURPOSE } from '../../shared/store/events/webhooks.ts';
import { type EventJobRow, readEventJobs } from '../../shared/store/jobs/jobs.ts';
import { openResult } from '../../shared/store/jobs/sealed.ts';
import { readDiff } from '../../shared/store/monitors/monitors.ts';
import { openText } from '../../shared/store/monitors/sealed.ts';
import type { EgressConnector } from '../egress.ts';
import { createEventPoster, type PostEnd } from './post-event.ts';

/** Opens the sender of signed events. @param onError called when an event cannot be read, decrypted or sent */
export function openDeliverySender(app: App, { connector, onError }: { connector: EgressConnector; onError: (error: unknown) => void }) {
    const poster = createEventPoster(connector);
    const bodies = openEventBodies(app);
    const aborted = new AbortController();
    return {
        /** @returns undefined if nothing was sent or the outcome is unknown; the delivery stays due */
        async send(delivery: DueDelivery): Promise<PostEnd | undefined> {
            if (delivery.isBlocked) return notSent("The receiver's domain is blocked in Routebook.");
            try {
                const body = await bodies.build(delivery);
                const headers = await headersOf(app, delivery, body);
                if (headers === undefined) return notSent('The secret of this webhook cannot be decrypted. Rotate it.');
                const end = await poster.post({ url: delivery.url, headers, body }, aborted.signal);
                return aborted.signal.aborted && end.code === null ? undefined : end;
            } catch (error) {
                onError(error);
                return undefined;
            }
        },
        abort: () => aborted.abort(),
        async close() {
            await bodies.close();
            poster.close();
        },
    };
}

function notSent(problem: string): PostEnd {
    return { isSent: false, isDelivered: false, code: null, problem, answer: null, durationMs: 0 };
}

/** Headers of Standard Webhooks, with the time of the attempt. Undefined if no key of the ring opens the secret. */
async function headersOf(
    app: App,
    { eventId, sealed, formerSealed }: DueDelivery,
    body: string,
): Promise<Record<string, string> | undefined> {
    const at = new Date();
    const secrets = await Promise.all([sealed, formerSealed].map((one) => one && app.secrets.open(one, WEBHOOK_PURPOSE)));
    const signatures = secrets.flatMap((secret) => (secret ? [new Webhook(secret.toString()).sign(eventId, at, body)] : []));
    if (signatures.length === 0) return undefined;
    return {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': userAgent(app.publicUrl()),
        'webhook-id': eventId,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
    };
}

/** Jobs read in one query; each may have a result. */
const MAX_TOGETHER = 50;
/** The most that encryption and framing add to a result. */
const SEAL_BYTES = 1024;

/** Builds the bodies of events when they are sent. Jobs of concurrent calls are read in one query. */
function openEventBodies(app: App) {
    const jobs = openBatch<string, EventJobRow | undefined>({
        run: (ids) => readEventJobs(app.db, ids, MAX_INCLUDED_BYTES + SEAL_BYTES),
        maxSize: MAX_TOGETHER,
    });
    return {
        /** Builds the JSON body of an event. It presents a job as it is now, so that deleted results are not sent. */
        async build({ type, at, data, about }: Pick<DueDelivery, 'type' | 'at' | 'data' | 'about'>): Promise<string> {
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
    const job = JSON.stringify(await listedJob(app, row));
    const { jobId, hasResult, isPrivate, result, remaining } = row;
    if (isPrivate) return job;
    const text = result === null ? null : ((await openResult(app.secrets, result, remaining ?? 0)) ?? null);
    const isIncluded = !hasResult || (text !== null && Buffer.byteLength(text) <= MAX_INCLUDED_BYTES);
    const last = isIncluded ? `"result":${text}` : `"result_url":${JSON.stringify(`${app.publicUrl()}/v1/jobs/${jobId}`)}`;
    return `${job.slice(0, -1)},${last}}`;
}
