import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from '@hapi/hapi';
import { Refusal } from '../../shared/refusals.ts';
import { callerOf } from '../auth/caller.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Refusals of one account with 429 that are answered at once, and how many more in each second. */
const AT_ONCE = 1000;
const PER_SECOND = 50;
/** The longest delay: short enough for a caller who has learned to wait. */
const LONGEST_MS = 2000;

/**
 * Delays the calls of an account that is refused with 429 again and again, before their bodies are read. A refusal costs a few milliseconds
 * of this process, more where params take long to check, and uses up none of the account's rate limits: 200 connections that did not stop
 * made the fetches of others take seconds.
 */
export const slowRefusals: AppPlugin = {
    name: 'slow-refusals',
    register(server) {
        const refused = createTokenBuckets({ capacity: AT_ONCE, perSecond: PER_SECOND });
        /** Requests that were delayed; they are counted already. */
        const delayed = new WeakSet<Request>();
        server.ext(
            'onCredentials',
            async (request, h) => {
                const account = callerOf(request)?.accountId;
                const waitMs = account === undefined ? 0 : refused.waitMs(account);
                if (account === undefined || waitMs === 0) return h.continue;
                delayed.add(request);
                // Each delayed call spends a token, so that they do not all continue in the same turn.
                if (waitMs < LONGEST_MS) refused.spend(account, 1);
                // Releases its slot, so that other reads from its address do not wait for it.
                request.app.endRead?.();
                await sleep(Math.min(waitMs, LONGEST_MS));
                if (request.raw.req.socket.destroyed) throw new Refusal('REQUEST_TIMEOUT', 'The caller hung up.');
                return h.continue;
            },
            { after: 'api-key', before: 'invalid-requests' },
        );
        server.ext(
            'onPreResponse',
            (request, h) => {
                const { response } = request;
                const status = 'isBoom' in response ? response.output.statusCode : response.statusCode;
                const account = callerOf(request)?.accountId;
                if (status === 429 && account !== undefined && !delayed.has(request)) refused.spend(account, 1);
                return h.continue;
            },
            { after: 'refusals' },
        );
    },
};
