/** Every event that webhooks and GET /v1/events tell, with what happened. */
export const EVENTS = {
    'job.succeeded': 'a job of its own has its result',
    'job.failed': 'a job of its own failed for good',
    'job.cancelled': 'a job of its own was cancelled',
    'job.expired': 'a job of its own never had its turn',
    'batch.finished': 'a batch ended, however its items did',
    'batch.paused': 'a batch was paused',
    'monitor.changed': 'a monitor saw a change, or ran and reports every run',
    'monitor.failing': 'ten runs of a monitor failed in a row',
    'schema.published': 'a version was published',
    'schema.verified': 'a version passed its verification, and was not verified before',
    'schema.drift': 'a version is no longer verified, since the site answers differently',
    'schema.yanked': 'a version was taken out of use',
    'request.fulfilled': 'a schema was published that the workspace had asked for',
    'credits.low': 'four fifths of the allowance are used',
    'credits.exhausted': 'neither allowance nor bonus is left',
    'key.revoked': 'a key of the workspace was revoked',
} as const;

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** What POST /v1/webhooks/{webhook_id}/test sends. Nobody subscribes to it. */
export const TEST_EVENT = 'webhook.test';

/** `job.*` and so on: every event of a kind, those that come later too. */
export const EVENT_PREFIXES = [...new Set(EVENT_TYPES.map(prefixOf))];

/** The kind of an event, as subscriptions write it. */
export function prefixOf(type: string): string {
    return `${type.slice(0, type.indexOf('.'))}.*`;
}
