/** Every event type of webhooks and GET /v1/events, and what it reports. */
const EVENTS = {
    'job.succeeded': 'a single job has its result',
    'job.failed': 'a single job failed for good',
    'job.cancelled': 'a single job was cancelled',
    'job.expired': 'a single job expired before it started',
    'batch.finished': 'a batch ended, whatever became of its items',
    'batch.paused': 'a batch was paused',
    'monitor.changed': 'a monitor saw a change, or finished a run and reports every run',
    'monitor.failing': 'ten runs of a monitor failed in a row',
    'schema.published': 'a version was published',
    'schema.verified': 'a version passed verification for the first time',
    'schema.drift': 'a version lost its verification, since the site answers differently',
    'schema.yanked': 'a version was yanked',
    'request.fulfilled': 'a schema that the workspace had requested was published',
    'credits.low': '80 % of the allowance is used',
    'credits.exhausted': 'allowance and bonus are used up',
    'key.revoked': 'a key of the workspace was revoked',
} as const;

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** The type of the event that POST /v1/webhooks/{webhook_id}/test sends. Webhooks cannot subscribe to it. */
export const TEST_EVENT = 'webhook.test';

/** `job.*` and so on: every event of a kind, including types added later. */
export const EVENT_PREFIXES = [...new Set(EVENT_TYPES.map(prefixOf))];

export function prefixOf(type: string): string {
    return `${type.slice(0, type.indexOf('.'))}.*`;
}
