import type { FetchFailure, FetchJob, UpstreamFigures } from '../shared/domain/fetch/fetch-job.ts';
import { isPathBlocked } from '../shared/domain/site/site-policy.ts';
import type { Endpoint, UpstreamRequest } from '../shared/domain/types.ts';
import type { Span } from '../shared/platform/tracing.ts';
import type { CallCredential } from './credentials/credential.ts';
import type { PaceFor } from './pace.ts';
import type { Reader, ReadingTurn } from './select/reader.ts';
import { openCallTime } from './upstream/call-time.ts';
import { createCallCookies } from './upstream/cookies.ts';
import { type MemoryBudget, NO_MEMORY } from './upstream/memory-budget.ts';
import type { Page, SendOptions, Upstream, UpstreamFailure } from './upstream.ts';

export type SiteCall = ReturnType<typeof openSiteCall>;

/** A call and what each of its steps needs. */
export interface RunningCall {
    call: SiteCall;
    job: FetchJob;
    endpoint: Endpoint;
    userAgent: string;
    reader: Reader;
    turn: ReadingTurn;
}

export interface CallTools {
    upstream: Upstream;
    /** Moves the hold from `held` to `sent`; false if the API already released it. Then nothing may be sent. */
    markSent(operation: string): Promise<boolean>;
    /** Absent: requests do not wait for turns. */
    paceFor?: PaceFor;
    /** Absent: no memory limit. */
    memoryBudget?: MemoryBudget;
}

/**
 * Opens the call of a job, which sends all its requests within its deadline. The caller reads each page before it requests the next.
 * @param span the parent of the span of each request
 */
export function openSiteCall(
    { upstream, markSent, paceFor, memoryBudget }: CallTools,
    job: FetchJob,
    {
        registrable,
        signal,
        span,
        credential,
    }: { registrable: string; signal: AbortSignal; span: Span; credential?: CallCredential | undefined },
) {
    const { site, endpoint, deadlineAt, blockedPaths } = job;
    const pace = paceFor?.(registrable, job);
    const cookies = createCallCookies();
    const reservation = memoryBudget?.createReservation(registrable);
    const heads: Page['headers'][] = [];
    const hosts = new Set<string>();
    const onHost = (host: string) => {
        hosts.delete(host);
        hosts.add(host);
    };
    const isBlocked = blockedPaths && ((url: string) => isPathBlocked(blockedPaths, url));
    const beginSpan = () => span.child('upstream', 'client', { 'routebook.site': site, 'routebook.endpoint': endpoint });
    const options = { site, registrable, deadlineAt, signal, cookies, credential, pace, isBlocked, reservation, onHost, beginSpan };
    let sum: UpstreamFigures = { status: 0, attempts: 0, durationMs: 0, bytes: 0 };
    return {
        /** `namedBy`: see `SendOptions`. */
        async send(
            request: UpstreamRequest,
            { effect, namedBy }: Pick<SendOptions, 'effect' | 'namedBy'>,
        ): Promise<{ ok: true; page: Page } | UpstreamFailure> {
            reservation?.settle(0);
            const beforeFirstByte = effect === 'write' ? () => markSent(job.operation) : undefined;
            const answer = await upstream.send(request, { ...options, effect, namedBy, beforeFirstByte });
            if (!answer.ok) {
                sum = { ...sum, attempts: sum.attempts + answer.attempts };
                return { ...answer, attempts: sum.attempts };
            }
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
        /** Reserves memory for the result of the last page, and waits for it. @returns a failure if there is none in time */
        async reserve(bytes: number): Promise<FetchFailure | undefined> {
            if (reservation?.mustReserve(bytes) !== true) return undefined;
            const time = openCallTime(deadlineAt, signal);
            time.whenOver(() => reservation.giveUp());
            try {
                await reservation.reserve(bytes);
                return undefined;
            } catch {
                return noMemoryFor(job);
            } finally {
                time.close();
            }
        },
        /** Frees the last page, and keeps this many bytes for its results. */
        keep: (bytes: number) => reservation?.keep(bytes),
        /** Frees all pages, and keeps this many bytes for the outcome until the call is closed. */
        keepOutcome(bytes: number): void {
            reservation?.keep(0);
            if (reservation?.mustReserve(bytes) === true) reservation.settle(bytes);
        },
        /** The value of a cookie that the host of `url` set during the call. */
        cookie: (url: string, name: string) => cookies.value(url, name, Date.now()),
        /** Whether a text from the site contains the call's credential, in any escaping. */
        holdsCredential: (text: string) => credential !== undefined && credential.maskText(text) !== text,
        /** Sums of all requests so far, and the last status. */
        figures: () => sum,
        /** The hosts that requests were sent to so far, each once, in the order of their last requests. */
        hosts: (): readonly string[] => [...hosts],
        heads: (): readonly Page['headers'][] => heads,
        close: () => reservation?.release(),
    };
}

/** For a write, which may have been sent, the code is not OVERLOADED, because OVERLOADED invites a retry. */
function noMemoryFor({ effect }: FetchJob): FetchFailure {
    if (effect === 'write') return { ok: false, code: 'UPSTREAM_TIMEOUT' };
    return { ok: false, code: 'OVERLOADED', message: NO_MEMORY, retryAfter: 1 };
}
