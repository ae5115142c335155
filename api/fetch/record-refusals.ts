import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import { ENDPOINT_NAME } from '../../shared/domain/package/endpoint.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { createTokenBuckets } from '../admission/token-buckets.ts';
import { toRefusal } from '../answers/refusal.ts';
import { callerOf } from '../auth/caller.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/** The name of all unknown sites in metrics and in the request log. It is not a valid site name. */
const OTHER = 'other';
/** Maximum number of refusals of an account that a process logs per minute, so that clients in a loop do not displace others. */
const LOGGED_A_MINUTE = 600;

/**
 * Records refusals of POST /v1/fetch in the metrics and, if the caller is known, in the request log, each once. These fetches were refused
 * before the queue. Skips dry runs, replays, and fetches that are already recorded with their outcome.
 */
export const fetchRefusals: AppPlugin = {
    name: 'fetch-refusals',
    register(server, { app }) {
        const mayLog = createTokenBuckets({ capacity: LOGGED_A_MINUTE, perSecond: LOGGED_A_MINUTE / 60 });
        const record = async (request: Request, error: Error): Promise<void> => {
            const { isRecorded, isKnownSite } = request.app.notes;
            const order = request.app.call?.body as FetchRequest | undefined;
            if (isRecorded || order?.dry_run === true) return;
            const { code } = await toRefusal(app, error);
            const { site, registrable, label } = whatSite(app, order, isKnownSite);
            app.metrics.fetches.inc({ site: label, outcome: code });
            const caller = callerOf(request);
            if (caller === undefined || !mayLog.take(caller.accountId)) return;
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
        };
        server.ext(
            'onPreResponse',
            async (request, h) => {
                const { response } = request;
                const isFetch = request.route.settings.app?.contract?.name === 'postFetch';
                if (isFetch && 'isBoom' in response) await record(request, response);
                return h.continue;
            },
            { before: ['refusals', 'refusal-pages'] },
        );
    },
};

/** The requested endpoint; undefined if it is not a valid endpoint name. Such a text can have any length and is not logged. */
function nameOf(order: FetchRequest | undefined): string | undefined {
    return order !== undefined && ENDPOINT_NAME.test(order.endpoint) ? order.endpoint : undefined;
}

/**
 * The site of a call, and its label in the metrics, which name only registered sites. If the look-up itself refused the call, its cached
 * result tells whether the site is registered.
 */
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
