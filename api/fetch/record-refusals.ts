import type { App } from '../../shared/app.ts';
import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import { ENDPOINT_NAME } from '../../shared/domain/package/endpoint-name.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { createTokenBuckets } from '../admission/token-buckets.ts';
import { toRefusal } from '../answers/refusal.ts';
import { callerOf } from '../auth/caller.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/** Stands for a site that is not known, in the metrics and in the log; no site has such a name. */
const OTHER = 'other';
/** Refusals of one account that the log of a process takes a minute: who sends in a loop must not push others out of it. */
const LOGGED_A_MINUTE = 600;

/**
 * Every refusal of POST /v1/fetch of a known caller, once in the metrics and once in the request log: those that never reached the
 * queue, whichever step said no. What was recorded with its outcome already, dry runs and replays are left out.
 */
export const fetchRefusals: AppPlugin = {
    name: 'fetch-refusals',
    register(server, { app }) {
        const mayLog = createTokenBuckets({ capacity: LOGGED_A_MINUTE, perSecond: LOGGED_A_MINUTE / 60 });
        server.ext(
            'onPreResponse',
            (request, h) => {
                const { response } = request;
                if (!('isBoom' in response) || request.route.settings.app?.contract?.name !== 'postFetch') return h.continue;
                const { isRecorded, isKnownSite } = request.app.notes;
                const caller = callerOf(request);
                const order = request.app.call?.body as FetchRequest | undefined;
                if (caller === undefined || isRecorded || order?.dry_run === true) return h.continue;
                const { code } = toRefusal(response);
                const { site, registrable, label } = whatSite(app, order, isKnownSite);
                app.metrics.fetches.inc({ site: label, outcome: code });
                if (mayLog.take(caller.accountId)) {
                    app.usage.record({
                        kind: 'fetch',
                        operation: request.app.call?.operation ?? newId('op'),
                        requestId: request.app.requestId,
                        accountId: caller.accountId,
                        workspaceId: caller.workspaceId,
                        userId: caller.userId,
                        keyId: caller.keyId,
                        site,
                        registrable,
                        endpoint: nameOf(order),
                        outcome: code,
                        credits: 0,
                        durationMs: performance.now() - request.app.startedAt,
                    });
                }
                return h.continue;
            },
            { before: ['refusals', 'refusal-pages'] },
        );
    },
};

/** The endpoint asked for; what no endpoint can be called is the caller's own text, which the log neither needs nor bears at any length. */
function nameOf(order: FetchRequest | undefined): string | undefined {
    return order !== undefined && ENDPOINT_NAME.test(order.endpoint) ? order.endpoint : undefined;
}

/** The site of a call. Metrics name registered ones only. Where the look-up itself refused the call, its answer is still remembered. */
function whatSite(
    app: App,
    order: FetchRequest | undefined,
    isKnownSite: boolean | undefined,
): { site: string; registrable: string; label: string } {
    const name = order === undefined ? undefined : normaliseSite(order.site);
    if (order === undefined || name?.ok !== true) return { site: OTHER, registrable: OTHER, label: OTHER };
    const { site, registrable } = name;
    const version = typeof order.version === 'number' ? order.version : undefined;
    const isKnown = isKnownSite ?? app.latest.recall({ site, registrable, version })?.isKnown === true;
    return { site, registrable, label: isKnown ? app.metrics.siteLabel(site) : OTHER };
}
