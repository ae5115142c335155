/** `import { Routebook } from 'routebook/client'`: no dependencies, in Node 22 or newer and in browsers. */

export { Batches, type BatchOrder, type FollowOptions } from './batches.ts';
export { Connections } from './connections.ts';
export { type ClientCode, RoutebookError } from './errors.ts';
export { failureOfJob, type JobOrder, Jobs, type OrderedJob } from './jobs.ts';
export { Listing, type Page } from './listing.ts';
export { Monitors } from './monitors.ts';
export { Claims, Keys, Policies } from './owners.ts';
export { type ListQuery, Maintainers, Requests, Schemas } from './resources.ts';
export { type FetchOptions, Routebook } from './routebook.ts';
export type { CallOptions, RoutebookOptions } from './transport.ts';
export type * from './types.ts';
export { verifyWebhook, type WebhookEvent, type WebhookHeaders, WebhookVerificationError } from './verify-webhook.ts';
export { Events, type EventsPart, Webhooks } from './webhooks.ts';
