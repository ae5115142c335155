import { randomBytes } from 'node:crypto';

const BYTES = 32;

/** Creates a webhook secret in the format of Standard Webhooks: `whsec_` and 32 bytes in base64. */
export function newWebhookSecret(): string {
    return `whsec_${randomBytes(BYTES).toString('base64')}`;
}
