import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Got } from 'got';
import { defined } from '../../shared/domain/defined.ts';
import type { Effect, Method, UpstreamRequest } from '../../shared/domain/types.ts';
import { NO_SPAN, type Span } from '../../shared/platform/tracing.ts';
import type { CallCredential } from '../credentials/credential.ts';
import { type Agents, checkUrl, type EgressRules, type GuardedAgent, type HandOver } from '../egress.ts';
import type { Pace } from '../pace.ts';
import { hasNoBody, type Page, type RequestFigures, type UpstreamAnswer, type UpstreamFailure } from './answers.ts';
import { readBody } from './body.ts';
import type { CallTime } from './call-time.ts';
import type { CallCookies } from './cookies.ts';
import { type Exchange, startExchange } from './exchange.ts';
import { type Fault, faultOf, UpstreamFault } from './failures.ts';
import { KEEPS_TOO_LONG, noMemory, type Reservation } from './memory-budget.ts';
import { followRedirect, isRedirect, MAX_REDIRECTS, refusalOf } from './redirects.ts';
import { readRefused } from './refused-answer.ts';
import { pauseBefore } from './retries.ts';

export interface SendOptions {
    /** Only for metrics. */
    site: string;
    /** All redirects stay on this registrable domain. */
    registrable: string;
    effect: Effect;
    /** Milliseconds since the epoch. */
    deadlineAt: number;
    signal?: AbortSignal;
    /** For writes: runs once, after the connection is open and before the first byte. `false`: nothing is sent. */
    beforeFirstByte?: (() => Promise<boolean>) | undefined;
    /** Stores and sends cookies, on redirects too; absent: no cookies. */
    cookies?: CallCookies;
    /** Set if the site named the URL, which is then checked like a redirect. The beginning of the error message. */
    namedBy?: string | undefined;
    /** Whether the site's owner blocked a URL. Checked for redirects too. */
    isBlocked?: ((url: string) => boolean) | undefined;
    /** Makes each request wait for its turn; absent: no wait. */
    pace?: Pace | undefined;
    /** Runs before each request, with the name of its host. */
    onHost?: (host: string) => void;
    /** Memory for large answers. It holds the returned page until the caller is done with it. */
    reservation?: Reservation | undefined;
    /** The caller's own credential; absent: none is sent. */
    credential?: CallCredential | undefined;
    /** Begins the span of each request. No trace header goes to the site. */
    beginSpan?: () => Span;
}

export interface UpstreamCaps {
    body: number;
    headerBytes: number;
    headers: number;
}

const NO_TURN = 'Too many calls to this site are waiting: this one would get no turn before its deadline.';

export interface SendTools {
    client: Got;
    agents: Agents;
    rules: EgressRules;
    caps: UpstreamCaps;
    onRequest: (figures: RequestFigures) => void;
}

/** The page, or the request that a redirect leads to. */
type Step = { page: Page } | { next: UpstreamRequest };

/** One request to the site, as far as it came. */
interface Attempt {
    /** By `performance.now()`. */
    began: number;
    exchange: Exchange | undefined;
    /** 0 if no answer came. */
    status: number;
    bytesIn: number;
}

/** How long an ended call waits for the result of its sent mark. Shorter than the caller waits for the report. */
const LATE_MARK_MS = 100;

/** If a site had to wait this long for our memory, a closed connection or a timeout is not its fault. */
const LONG_WAIT_MS = 1000;

export class Call {
    readonly #tools: SendTools;
    readonly #options: SendOptions;
    readonly #time: CallTime;
    readonly #began = performance.now();
    #attempts = 0;
    #retries = 0;
    #mayHaveArrived = false;
    /** The call was ended because other calls need its memory. */
    #isGivenUp = false;
    /** Resolves with whether this call marked the write as sent. */
    #marking: Promise<boolean> | undefined;
    /** Headers of the followed redirects and of the page. */
    readonly #heads: IncomingHttpHeaders[] = [];

    constructor(tools: SendTools, options: SendOptions, time: CallTime) {
        this.#tools = tools;
        this.#options = options;
        this.#time = time;
    }

    async run(first: UpstreamRequest): Promise<UpstreamAnswer | UpstreamFailure> {
        const cleaned = this.#clean(first);
        if ('code' in cleaned) return this.#failed(cleaned);
        const refused = this.#checkFirst(cleaned);
        if (refused !== undefined) return this.#failed(refused);
        let request = cleaned;
        let failed: Fault | undefined;
        for (let redirects = 0; ; ) {
            if (this.#options.isBlocked?.(request.url)) return this.#failed({ code: 'SITE_BLOCKED', isTransient: false });
            this.#options.reservation?.requested(() => this.#giveUp());
            const host = new URL(request.url).hostname;
            const noTurn = await this.#waitForTurn(host);
            // The site's earlier answer is more informative than the missing turn.
            if (noTurn !== undefined) return this.#failed(failed ?? noTurn);
            this.#options.onHost?.(host);
            const step = await this.#tryOnce(request);
            if ('page' in step) return this.#answered(step.page);
            if ('fault' in step) {
                failed = step.fault;
                if (!(await this.#mayTryAgain(failed))) return this.#failed(failed);
            } else {
                if (++redirects > MAX_REDIRECTS) {
                    return this.#failed({ code: 'UPSTREAM_REDIRECT', message: 'The site redirected too many times.', isTransient: false });
                }
                request = step.next;
            }
        }
    }

    /** Removes the credential from a URL that the site named, since the site may repeat it there. */
    #clean(request: UpstreamRequest): UpstreamRequest | Fault {
        const { credential, namedBy } = this.#options;
        if (credential === undefined || namedBy === undefined) return request;
        try {
            return { ...request, url: credential.cleanUrl(request.url) };
        } catch (error) {
            return faultOf(error);
        }
    }

    #checkFirst({ url: text }: UpstreamRequest): Fault | undefined {
        const { registrable, namedBy } = this.#options;
        const url = URL.parse(text);
        if (url !== null && namedBy !== undefined) return refusalOf(url, registrable, this.#tools.rules, namedBy);
        const isAllowed = url !== null && checkUrl(url, registrable, this.#tools.rules) === 'allowed';
        return isAllowed ? undefined : { code: 'EGRESS_DENIED', isTransient: false };
    }

    /** Waits for a turn. @returns a fault if none comes before the deadline */
    async #waitForTurn(host: string): Promise<Fault | undefined> {
        const { pace } = this.#options;
        if (pace === undefined || this.#time.isOver()) return undefined;
        let { granted, waitMs } = await pace.turn(host, this.#time.left());
        while (!granted && pace.asksAgain && waitMs < this.#time.left()) {
            await this.#time.wait(waitMs);
            if (this.#time.isOver()) return undefined;
            ({ granted, waitMs } = await pace.turn(host, this.#time.left()));
        }
        if (granted) {
            if (waitMs > 0) await this.#time.wait(waitMs);
            return undefined;
        }
        if (this.#mayHaveArrived) return { code: 'UPSTREAM_TIMEOUT', isTransient: false };
        return { code: 'SITE_UNAVAILABLE', message: NO_TURN, isTransient: false, retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) };
    }

    async #tryOnce(request: UpstreamRequest): Promise<Step | { fault: Fault }> {
        if (this.#time.isOver()) return { fault: this.#outOfTime(false) };
        this.#attempts++;
        const waitedBefore = this.#options.reservation?.waitedMs() ?? 0;
        const span = this.#options.beginSpan?.() ?? NO_SPAN;
        const attempt: Attempt = { began: performance.now(), exchange: undefined, status: 0, bytesIn: 0 };
        let result = 'success';
        try {
            const step = await this.#exchange(request, attempt);
            if ('next' in step) result = 'redirect';
            return step;
        } catch (error) {
            const { exchange } = attempt;
            const cause = error instanceof UpstreamFault ? error : (exchange?.brokenBy() ?? error);
            exchange?.abandon();
            const fault = this.#faultOf(cause, exchange, (this.#options.reservation?.waitedMs() ?? 0) - waitedBefore);
            result = fault.code;
            span.fail(result);
            return { fault };
        } finally {
            if (attempt.exchange?.isSent()) this.#mayHaveArrived = true;
            this.#record(request, attempt, result, span);
        }
    }

    /** Sends a request and reads its answer. @throws UpstreamFault or an error of the connection */
    async #exchange(request: UpstreamRequest, attempt: Attempt): Promise<Step> {
        const { client, caps, rules } = this.#tools;
        const { effect, registrable, credential, pace, cookies, reservation } = this.#options;
        const { request: sent, isAttached } = await this.#withCredential(this.#withCookies(request));
        const exchange = startExchange(client, sent, this.#agentFor(request), this.#time);
        attempt.exchange = exchange;
        const response = await exchange.head;
        checkHeaders(response, request.method, caps);
        cookies?.store(request.url, response.headers['set-cookie'], Date.now());
        const status = response.statusCode ?? 0;
        attempt.status = status;
        const { location } = response.headers;
        if (isRedirect(status, location)) {
            exchange.abandon();
            this.#heads.push(response.headers);
            const here = { status, location: credential?.cleanUrl(location) ?? location };
            return { next: followRedirect(request, here, { effect, registrable, rules }) };
        }
        if (status < 200 || status > 299) {
            const host = new URL(request.url).hostname;
            throw await readRefused(response, exchange, { began: attempt.began, isAttached, host, credential, pace });
        }
        const isEmpty = hasNoBody({ status, method: request.method });
        const body = await readBody(response, caps.body, { isEmpty, reservation });
        attempt.bytesIn = body.received;
        if (!body.isWhole) throw tooLarge(caps);
        checkHeaderCount(response.rawHeaders.length + response.rawTrailers.length, caps);
        this.#heads.push(response.headers);
        const shown = credential?.maskBytes(body.bytes, response.headers['content-type']) ?? body.bytes;
        return { page: { status, headers: response.headers, body: shown, url: request.url, method: request.method } };
    }

    #record({ method, body }: UpstreamRequest, { began, status, bytesIn }: Attempt, result: string, span: Span): void {
        const bytesOut = body === undefined ? 0 : Buffer.byteLength(body);
        const seconds = (performance.now() - began) / 1000;
        this.#tools.onRequest({ site: this.#options.site, result, seconds, bytesIn, bytesOut });
        span.set({
            'http.request.method': method,
            'http.request.body.size': bytesOut,
            'http.response.body.size': bytesIn,
            ...(status === 0 ? {} : { 'http.response.status_code': status }),
            'routebook.attempt': this.#attempts,
        });
        span.end();
    }

    /** Adds the credential if the host of this request may receive it. Waits for a token that is being renewed, until the deadline. */
    async #withCredential(request: UpstreamRequest): Promise<{ request: UpstreamRequest; isAttached: boolean }> {
        const { credential } = this.#options;
        if (credential === undefined) return { request, isAttached: false };
        const tooLate = Promise.withResolvers<never>();
        const forget = this.#time.whenOver(() => tooLate.reject(new UpstreamFault('DEADLINE_EXCEEDED')));
        try {
            return await Promise.race([credential.attachTo(request), tooLate.promise]);
        } finally {
            forget();
        }
    }

    /** Adds the cookies for this request. A redirect may lead to another host, so each request adds its own. */
    #withCookies(request: UpstreamRequest): UpstreamRequest {
        const cookie = this.#options.cookies?.header(request.url, Date.now());
        return cookie === undefined ? request : { ...request, headers: { ...request.headers, cookie } };
    }

    /** A marked write uses its own connection, so that the mark falls between the connect and the first byte. */
    #agentFor({ url }: UpstreamRequest): GuardedAgent {
        const { beforeFirstByte, effect } = this.#options;
        if (effect !== 'write' || this.#attempts > 1) return this.#tools.agents.of(url);
        const notSent = () => new UpstreamFault('DEADLINE_EXCEEDED');
        const handOver: HandOver = async () => {
            if (this.#time.isOver()) throw notSent();
            this.#marking = Promise.resolve(beforeFirstByte?.() ?? true);
            const isWon = await this.#marking.catch(() => {
                throw new UpstreamFault('SERVICE_UNAVAILABLE');
            });
            if (!isWon || this.#time.isOver()) throw notSent();
        };
        return this.#tools.agents.once(url, handOver);
    }

    async #mayTryAgain(fault: Fault): Promise<boolean> {
        if (this.#options.effect !== 'read') return false;
        const pause = pauseBefore(this.#retries + 1, fault, this.#time.left(), Math.random());
        if (pause === undefined) return false;
        this.#retries++;
        await this.#time.wait(pause);
        return !this.#time.isOver();
    }

    /** @param waitedMs time that the site had to wait for our memory */
    #faultOf(cause: unknown, exchange: Exchange | undefined, waitedMs: number): Fault {
        const isOver = this.#time.isOver();
        const fault = faultOf(cause);
        const isOurs = fault.code === 'OVERLOADED' || (waitedMs >= LONG_WAIT_MS && (isOver || fault.code === 'UPSTREAM_UNREACHABLE'));
        if (this.#options.effect === 'read' && isOurs) return noMemory(!isOver).fault;
        return isOver ? this.#outOfTime(exchange?.isSent() === true) : fault;
    }

    /** Ends the call without blaming the site. */
    #giveUp(): void {
        this.#isGivenUp = true;
        this.#time.end();
    }

    /** @param isSent whether the current request had a connection */
    #outOfTime(isSent: boolean): Fault {
        if (this.#isGivenUp) return { code: 'OVERLOADED', message: KEEPS_TOO_LONG, isTransient: false, retryAfter: 1 };
        return { code: isSent || this.#mayHaveArrived ? 'UPSTREAM_TIMEOUT' : 'DEADLINE_EXCEEDED', isTransient: false };
    }

    #answered(page: Page): UpstreamAnswer {
        const durationMs = Math.round(performance.now() - this.#began);
        const figures = { status: page.status, attempts: this.#attempts, durationMs, bytes: page.body.length };
        return { ok: true, page, heads: this.#heads, figures };
    }

    async #failed({ code, message, retryAfter, status, snippet = '', isCallers }: Fault): Promise<UpstreamFailure> {
        const isUnsent = await this.#isUnsent();
        return defined<UpstreamFailure>({
            ok: false,
            code,
            attempts: this.#attempts,
            message,
            // Callers get whole seconds, and at least 1 even if the site says 0.
            retryAfter: retryAfter === undefined ? undefined : Math.max(1, retryAfter),
            upstream: status === undefined ? undefined : { status, snippet },
            isUnsent: isUnsent || undefined,
            isCallers: isCallers || undefined,
        });
    }

    /** Whether this call marked a write and never sent it. The call may end before the mark is stored. */
    async #isUnsent(): Promise<boolean> {
        if (this.#marking === undefined || this.#mayHaveArrived) return false;
        return Promise.race([this.#marking.catch(() => false), delay(LATE_MARK_MS, false, { ref: false })]);
    }
}

/** @throws UpstreamFault UPSTREAM_TOO_LARGE if the answer has too many headers or announces too many bytes */
function checkHeaders(response: IncomingMessage, method: Method, caps: UpstreamCaps): void {
    checkHeaderCount(response.rawHeaders.length, caps);
    const length = Number(response.headers['content-length'] ?? 0);
    const isPlain = response.headers['content-encoding'] === undefined && method !== 'HEAD';
    if (isPlain && length > caps.body && (response.statusCode ?? 0) < 300) throw tooLarge(caps);
}

/** @param parts names and values, as Node lists them */
function checkHeaderCount(parts: number, { headers }: UpstreamCaps): void {
    if (parts / 2 > headers) throw new UpstreamFault('UPSTREAM_TOO_LARGE', 'The answer has too many headers.');
}

function tooLarge({ body }: UpstreamCaps): UpstreamFault {
    return new UpstreamFault('UPSTREAM_TOO_LARGE', `The answer has more than ${body} bytes.`);
}
