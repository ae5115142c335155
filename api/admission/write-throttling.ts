import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from '@hapi/hapi';
import { PACKAGE_BYTES } from '../../shared/contracts/contract.ts';
import { callerOf } from '../auth/caller.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { createSecondWindow } from './second-window.ts';
import { accountRefusal } from './write-queue.ts';

/** The most refusals of one account per second that are answered at once. */
const AT_ONCE = 10;
/** A slow refusal takes between half and one and a half of this, so that refusals do not all end together. */
const SLOWLY_MS = 2000;

/**
 * Refuses a write of an account that has too many waiting (api/admission/write-queue.ts), before its body is read; packages that are
 * still on their way count as well, since each may take 4 MiB of memory. An account that comes again and again all the same is answered
 * slowly: thousands of refusals a second would take the time of others.
 */
export const writeThrottling: AppPlugin = {
    name: 'write-throttling',
    register(server, { app }) {
        const isAtOnce = createSecondWindow(AT_ONCE);
        /** Packages that are not answered yet, by account. */
        const begun = new Map<string, number>();
        const entered = new WeakMap<Request, string>();
        const enter = (request: Request, accountId: string) => {
            entered.set(request, accountId);
            begun.set(accountId, (begun.get(accountId) ?? 0) + 1);
        };
        const leave = (request: Request) => {
            const accountId = entered.get(request);
            if (accountId === undefined) return;
            entered.delete(request);
            const left = (begun.get(accountId) ?? 1) - 1;
            if (left === 0) begun.delete(accountId);
            else begun.set(accountId, left);
        };

        server.ext(
            'onPostAuth',
            async (request, h) => {
                const caller = callerOf(request);
                const { contract } = request.route.settings.app ?? {};
                if (caller === undefined || contract === undefined || contract.method === 'GET' || contract.counted) return h.continue;
                const isPackage = contract.body?.maxBytes === PACKAGE_BYTES;
                const refusal = accountRefusal(app, caller, isPackage ? (begun.get(caller.accountId) ?? 0) : 0);
                if (refusal === undefined) {
                    if (isPackage) enter(request, caller.accountId);
                    return h.continue;
                }
                if (!isAtOnce(caller.accountId)) await sleep(SLOWLY_MS * (0.5 + Math.random()));
                throw refusal;
            },
            { before: 'input' },
        );
        server.ext('onPreResponse', (request, h) => {
            leave(request);
            return h.continue;
        });
        // This also runs where the caller hung up.
        server.events.on('response', leave);
    },
};
