import type { FetchFailure, FetchJob, UpstreamFigures } from '../shared/domain/fetch.ts';
import { isPathBlocked } from '../shared/domain/site-policy.ts';
import type { Effect, UpstreamRequest } from '../shared/domain/types.ts';
import type { Span } from '../shared/tracing.ts';
import type { OpenPace } from './pace.ts';
import { type CookieJar, createCookieJar } from './upstream/cookies.ts';
import { NO_ROOM, type Room, waitForRoom } from './upstream/room.ts';
import type { Page, SendOptions, Upstream, UpstreamFailure } from './upstream.ts';

/** Everything that one job sends to its site, up to its one deadline. */
export interface SiteCall {
    /** @param namedBy who named the URL, where the site did; see `SendOptions` */
    send(
        request: UpstreamRequest,
        options: { effect: Effect; namedBy?: string | undefined },
    ): Promise<{ ok: true; page: Page } | UpstreamFailure>;
    /** Waits until there is room for so many bytes that may be made of the last page. The failure where there is none in time. */
    makeRoom(bytes: number): Promise<FetchFailure | undefined>;
    /** What was read of the last page stays, and takes so many bytes. */
    keep(bytes: number): void;
    /** Of all requests so far: attempts, bytes and durations summed, and the status of the last. */
    figures(): UpstreamFigures;
    /** The headers of every page so far, and of the redirects that led there. */
    heads(): readonly Page['headers'][];
    /** Nothing of it is held any more. */
    close(): void;
}

export interface CallTools {
    upstream: Upstream;
    /** `held → sent`; false where the API has already let go of the hold, and then nothing may be sent. */
    markSent(operation: string): Promise<boolean>;
    /** Absent: every request is sent at once. */
    openPace?: OpenPace;
    /** Absent: answers take whatever memory they take. */
    room?: Room;
}

/**
 * One page after the other: who asks for the next has read the last.
 * @param keepsCookies only a prepared call hands back what the site sets, and only while it runs
 * @param span the job's, on which its requests hang
 */
export function openSiteCall(
    { upstream, markSent, openPace, room }: CallTools,
    job: FetchJob,
    { registrable, signal, keepsCookies, span }: { registrable: string; signal: AbortSignal; keepsCookies: boolean; span: Span },
): SiteCall {
    const { site, endpoint, deadlineAt } = job;
    const pace = openPace?.(registrable, job.pace);
    const cookies: CookieJar | undefined = keepsCookies ? createCookieJar() : undefined;
    const tenant = room?.enter(registrable);
    const heads: Page['headers'][] = [];
    const beginSpan = () => span.child('upstream', 'client', { 'routebook.site': site, 'routebook.endpoint': endpoint });
    let sum: UpstreamFigures = { status: 0, attempts: 0, durationMs: 0, bytes: 0 };
    return {
        async send(request, { effect, namedBy }) {
            tenant?.settle(0);
            const options: SendOptions = { site, registrable, effect, deadlineAt, signal, beginSpan };
            if (effect === 'write') options.beforeFirstByte = () => markSent(job.operation);
            if (cookies !== undefined) options.cookies = cookies;
            if (pace !== undefined) options.pace = pace;
            const { blockedPaths } = job;
            if (blockedPaths !== undefined) options.isBlocked = (url) => isPathBlocked(blockedPaths, url);
            if (namedBy !== undefined) options.namedBy = namedBy;
            if (tenant !== undefined) options.tenant = tenant;
            const answer = await upstream.send(request, options);
            if (!answer.ok) return { ...answer, attempts: sum.attempts + answer.attempts };
            const { status, attempts, durationMs, bytes } = answer.figures;
            sum = {
                status,
                attempts: sum.attempts + attempts,
                durationMs: sum.durationMs + durationMs,
                bytes: sum.bytes + bytes,
            };
            heads.push(...answer.heads);
            return { ok: true, page: answer.page };
        },
        async makeRoom(bytes) {
            if (tenant === undefined || !tenant.hasToAsk(bytes) || (await waitForRoom(tenant, bytes, { deadlineAt, signal })))
                return undefined;
            // Of a write that was sent nobody is told that it may be repeated.
            if (job.effect === 'write') return { ok: false, code: 'UPSTREAM_TIMEOUT' };
            return { ok: false, code: 'OVERLOADED', message: NO_ROOM, retryAfter: 1 };
        },
        keep: (bytes) => tenant?.keep(bytes),
        figures: () => sum,
        heads: () => heads,
        close: () => tenant?.leave(),
    };
}
