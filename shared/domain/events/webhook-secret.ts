import { randomBytes } from 'node:crypto';

const BYTES = 32;

/** A new secret of a webhook, as Standard Webhooks writes it: `whsec_` and 32 bytes in base64. */
export function newWebhookSecret(): string {
    return `whsec_${randomBytes(BYTES).toString('base64')}`;
}
