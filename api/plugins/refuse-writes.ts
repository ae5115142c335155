import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { accountRefusal } from '../write-queue.ts';
import { createSecondWindow } from './second-window.ts';

/** Refusals of one account in a second that are answered at once. */
const AT_ONCE = 10;
/** Slow ones take between half and one and a half of this, so that they do not all end at the same time. */
const SLOWLY_MS = 2000;

/**
 * Refuses a write of an account that has too many waiting (api/write-queue.ts), before its body is read. An account that comes again and
 * again all the same is answered slowly: thousands of refusals a second would take the time of others.
 */
export function refuseWrites(server: Server, app: App): void {
    const isAtOnce = createSecondWindow(AT_ONCE);
    server.ext('onPreHandler', async ({ app: { caller }, route }, h) => {
        const { contract } = route.settings.app ?? {};
        if (caller === undefined || contract === undefined || contract.method === 'GET' || contract.counted) return h.continue;
        const refusal = accountRefusal(app, caller);
        if (refusal === undefined) return h.continue;
        if (!isAtOnce(caller.accountId)) await sleep(SLOWLY_MS * (0.5 + Math.random()));
        throw refusal;
    });
}
