import type { App } from '../../shared/app.ts';
import { type Receiver, readReceiver } from '../../shared/domain/events/webhook-url.ts';
import { siteBlocked } from '../../shared/domain/site/read-site.ts';
import { Refusal } from '../../shared/refusals.ts';
import { isReceiverBlocked } from '../../shared/store/events/webhooks.ts';

/**
 * Validates the URL of a webhook. The egress guard checks its address at each connection.
 * @throws Refusal VALIDATION_ERROR, SITE_BLOCKED
 */
export async function checkReceiver(app: App, url: string): Promise<Receiver> {
    const read = readReceiver(url, { allow: app.config.egressAllow, publicUrl: app.publicUrl() });
    if (!read.ok) {
        const message = `url ${read.message}.`;
        throw new Refusal('VALIDATION_ERROR', undefined, { details: [{ path: '/url', code: 'INVALID_VALUE', message }] });
    }
    if (await isReceiverBlocked(app.db, read.receiver)) throw siteBlocked();
    return read.receiver;
}
