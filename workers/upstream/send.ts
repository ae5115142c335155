import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Got } from 'got';
import type { Effect, Method, UpstreamRequest } from '../../shared/domain/types.ts';
import { NO_SPAN, type Span } from '../../shared/tracing.ts';
import { type EgressConnector, type EgressRules, GuardedAgent, type HandOver, judgeUrl } from '../egress.ts';
import type { Pace } from '../pace.ts';
import type { Page, RequestFigures, UpstreamAnswer, UpstreamFailure } from './answers.ts';
import { type Body, readBody } from './body.ts';
import { isBodyless } from './bodyless.ts';
import type { CallTime } from './call.ts';
import type { CookieJar } from './cookies.ts';
import { type Exchange, startExchange } from './exchange.ts';
import { type Fault, faultOf, UpstreamFault } from './failures.ts';
import { followRedirect, isRedirect, MAX_REDIRECTS, refusalOf } from './redirects.ts';
import { isRetriedStatus, pauseBefore, readRetryAfter } from './retries.ts';
import { KEEPS_TOO_LONG, noRoom, type Tenant } from './room.ts';
import { snippetOf } from './snippet.ts';
import { wallOf } from './walls.ts';

export interface SendOptions {
    /** For metrics alone. */
    site: string;
    /** Every hop stays on this registrable domain. */
    registrable: string;
    effect: Effect;
    /** Milliseconds since the epoch. */
    deadlineAt: number;
    signal?: AbortSignal;
    /** For writes: asked once, when the connection stands and nothing is written yet; `false` and nothing is sent. */
    beforeFirstByte?: () => Promise<boolean>;
    /** What the site sets goes back to it, on every hop; without a jar no cookie is kept or sent. */
    cookies?: CookieJar;
    /** Who named the URL, where it was the site and not the package: it is judged like a redirect. Begins a sentence. */
    namedBy?: string;
    /** Whether the site's owner does not want a URL called; asked for every hop. */
    isBlocked?: (url: string) => boolean;
    /** Each request waits for its turn; absent: it is sent at once. */
    pace?: Pace;
    /** Large answers ask it for room; it holds the page that is answered until whoever asked for it is done with it. */
    tenant?: Tenant;
    /** Of each request, where the call is traced. Nothing of it goes to the site. */
    beginSpan?: () => Span;
}

export interface UpstreamCaps {
    /** Unpacked body bytes. */
    body: number;
    headerBytes: number;
    headers: number;
}

/** Of a refusing answer no more is read than its snippet needs, and not for longer than this many milliseconds. */
const REFUSAL_BODY = 16 * 1024;
const REFUSAL_PATIENCE = 1000;

const NO_TURN = 'So many calls of this site wait for their turn that this one has none before its deadline.';

/** What all calls share. */
export interface SendTools {
    client: Got;
    agents: Readonly<Record<'http' | 'https', GuardedAgent>>;
    rules: EgressRules;
    connector: EgressConnector;
    caps: UpstreamCaps;
    onRequest: (figures: RequestFigures) => void;
}

/** How long a call that is over waits to hear whether its write was marked: less than its caller waits for that news. */
const LATE_MARK_MS = 100;

/** Whom we let wait for as long, and who then hangs up or has no time left, is not to blame. */
const LONG_WAIT_MS = 1000;

/** One call of `send`: how many requests it took, and whether one of them may have reached the site. */
export class Call {
    readonly #tools: SendTools;
    readonly #options: SendOptions;
    readonly #time: CallTime;
    readonly #began = performance.now();
    #attempts = 0;
    #retries = 0;
    #mayHaveArrived = false;
    /** Others need what the call keeps. */
    #isGivenUp = false;
    /** Whether it is this worker, and no other, that marks the write as sent. */
    #marking: Promise<boolean> | undefined;
    /** Of the redirects that were followed, and of the page. */
    readonly #heads: IncomingHttpHeaders[] = [];

    constructor(tools: SendTools, options: SendOptions, time: CallTime) {
        this.#tools = tools;
        this.#options = options;
        this.#time = time;
    }

    async run(first: UpstreamRequest): Promise<UpstreamAnswer | UpstreamFailure> {
        const refused = this.#judgeFirst(first);
        if (refused !== undefined) return this.#failed(refused);
        let request = first;
        let failed: Fault | undefined;
        for (let redirects = 0; ; ) {
            if (this.#options.isBlocked?.(request.url)) return this.#failed({ code: 'SITE_BLOCKED', isTransient: false });
            this.#options.tenant?.requested(() => this.#giveUp());
            const noTurn = await this.#waitForTurn();
            // What the site answered before says more than that there is no time to ask again.
            if (noTurn !== undefined) return this.#failed(failed ?? noTurn);
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

    #judgeFirst({ url: text }: UpstreamRequest): Fault | undefined {
        const { registrable, namedBy } = this.#options;
        const url = URL.parse(text);
        if (url !== null && namedBy !== undefined) return refusalOf(url, registrable, this.#tools.rules, namedBy);
        const isAllowed = url !== null && judgeUrl(url, registrable, this.#tools.rules) === 'allowed';
        return isAllowed ? undefined : { code: 'EGRESS_DENIED', isTransient: false };
    }

    /** The fault where no turn comes before the deadline. */
    async #waitForTurn(): Promise<Fault | undefined> {
        const { pace } = this.#options;
        if (pace === undefined || this.#time.isOver()) return undefined;
        const { granted, waitMs } = await pace.turn(this.#time.left());
        if (granted) {
            if (waitMs > 0) await this.#time.wait(waitMs);
            return undefined;
        }
        if (this.#mayHaveArrived) return { code: 'UPSTREAM_TIMEOUT', isTransient: false };
        return { code: 'SITE_UNAVAILABLE', message: NO_TURN, isTransient: false, retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) };
    }

    /** One request and what it led to. */
    async #tryOnce(request: UpstreamRequest): Promise<{ page: Page } | { next: UpstreamRequest } | { fault: Fault }> {
        if (this.#time.isOver()) return { fault: this.#outOfTime(false) };
        const began = performance.now();
        const waitedBefore = this.#options.tenant?.waitedMs() ?? 0;
        const span = this.#options.beginSpan?.() ?? NO_SPAN;
        let status = 0;
        let body: Body | undefined;
        let exchange: Exchange | undefined;
        let result = 'success';
        try {
            this.#attempts++;
            exchange = startExchange(this.#tools.client, this.#withCookies(request), this.#agentFor(request), this.#time);
            const response = await exchange.head;
            this.#checkHeaders(response, request.method);
            this.#options.cookies?.store(new URL(request.url), response.headers['set-cookie'], Date.now());
            status = response.statusCode ?? 0;
            if (isRedirect(status, response.headers.location)) {
                exchange.abandon();
                this.#heads.push(response.headers);
                result = 'redirect';
                const { effect, registrable } = this.#options;
                const here = { status, location: response.headers.location };
                return { next: followRedirect(request, here, { effect, registrable, rules: this.#tools.rules }) };
            }
            if (status < 200 || status > 299) throw await this.#refused(response, status, exchange, began);
            const isEmpty = isBodyless({ status, method: request.method });
            body = await readBody(response, this.#tools.caps.body, { isEmpty, tenant: this.#options.tenant });
            if (!body.isWhole) throw new UpstreamFault('UPSTREAM_TOO_LARGE', `The answer has more than ${this.#tools.caps.body} bytes.`);
            this.#checkCount(response.rawHeaders.length + response.rawTrailers.length);
            this.#heads.push(response.headers);
            return { page: { status, headers: response.headers, body: body.bytes, url: request.url, method: request.method } };
        } catch (error) {
            const cause = error instanceof UpstreamFault ? error : (exchange?.brokenBy() ?? error);
            exchange?.abandon();
            const fault = this.#faultOf(cause, exchange, (this.#options.tenant?.waitedMs() ?? 0) - waitedBefore);
            result = fault.code;
            span.fail(result);
            return { fault };
        } finally {
            if (exchange?.isSent()) this.#mayHaveArrived = true;
            const bytesOut = request.body === undefined ? 0 : Buffer.byteLength(request.body);
            const seconds = (performance.now() - began) / 1000;
            const bytesIn = body?.received ?? 0;
            this.#tools.onRequest({ site: this.#options.site, result, seconds, bytesIn, bytesOut });
            span.set({
                'http.request.method': request.method,
                'http.request.body.size': bytesOut,
                'http.response.body.size': bytesIn,
                ...(status === 0 ? {} : { 'http.response.status_code': status }),
                'routebook.attempt': this.#attempts,
            });
            span.end();
        }
    }

    /** For this one request: what follows a redirect asks anew, since it may go to another host. */
    #withCookies(request: UpstreamRequest): UpstreamRequest {
        const cookie = this.#options.cookies?.header(new URL(request.url), Date.now());
        return cookie === undefined ? request : { ...request, headers: { ...request.headers, cookie } };
    }

    /** A write that is to be marked goes over a connection of its own, so that the mark falls between "connected" and the first byte. */
    #agentFor(request: UpstreamRequest): GuardedAgent {
        const { beforeFirstByte, effect } = this.#options;
        const scheme = request.url.startsWith('https:') ? 'https' : 'http';
        if (effect !== 'write' || this.#attempts > 1) return this.#tools.agents[scheme];
        const notSent = () => new UpstreamFault('DEADLINE_EXCEEDED');
        const handOver: HandOver = async () => {
            if (this.#time.isOver()) throw notSent();
            this.#marking = Promise.resolve(beforeFirstByte?.() ?? true);
            const isWon = await this.#marking.catch(() => {
                throw new UpstreamFault('SERVICE_UNAVAILABLE');
            });
            if (!isWon || this.#time.isOver()) throw notSent();
        };
        return new GuardedAgent(scheme, this.#tools.connector, handOver);
    }

    #checkHeaders(response: IncomingMessage, method: Method): void {
        this.#checkCount(response.rawHeaders.length);
        const length = Number(response.headers['content-length'] ?? 0);
        const isPlain = response.headers['content-encoding'] === undefined && method !== 'HEAD';
        if (isPlain && length > this.#tools.caps.body && (response.statusCode ?? 0) < 300) {
            throw new UpstreamFault('UPSTREAM_TOO_LARGE', `The answer has more than ${this.#tools.caps.body} bytes.`);
        }
    }

    /** @param parts names and values, as Node lists them */
    #checkCount(parts: number): void {
        if (parts / 2 > this.#tools.caps.headers) throw new UpstreamFault('UPSTREAM_TOO_LARGE', 'The answer has too many headers.');
    }

    /** A status that is not 2xx, with the beginning of its body where that comes soon. */
    async #refused(response: IncomingMessage, status: number, exchange: Exchange, began: number): Promise<UpstreamFault> {
        const patience = setTimeout(() => exchange.abandon(), REFUSAL_PATIENCE);
        const body = await readBody(response, REFUSAL_BODY, { keepsBeginning: true }).catch(() => undefined);
        clearTimeout(patience);
        if (body === undefined || !body.isWhole) exchange.abandon();
        const retryAfter = readRetryAfter(response.headers['retry-after'], Date.now());
        if (status === 429) this.#options.pace?.slowDown(retryAfter, performance.now() - began);
        const snippet = body === undefined ? '' : snippetOf(body.bytes);
        const wall = wallOf({ headers: response.headers, body: body?.bytes }, 'refused');
        if (wall !== undefined) return new UpstreamFault('UPSTREAM_BLOCKED', wall, { status, snippet });
        return new UpstreamFault(status === 429 ? 'UPSTREAM_RATE_LIMITED' : 'UPSTREAM_STATUS', undefined, {
            isTransient: isRetriedStatus(status),
            status,
            snippet,
            ...(retryAfter === undefined ? {} : { retryAfter }),
        });
    }

    async #mayTryAgain(fault: Fault): Promise<boolean> {
        if (this.#options.effect !== 'read') return false;
        const pause = pauseBefore(this.#retries + 1, fault, this.#time.left(), Math.random());
        if (pause === undefined) return false;
        this.#retries++;
        await this.#time.wait(pause);
        return !this.#time.isOver();
    }

    /** @param waitedMs for room, in which the site could not go on */
    #faultOf(cause: unknown, exchange: Exchange | undefined, waitedMs: number): Fault {
        const isOver = this.#time.isOver();
        const fault = faultOf(cause);
        const isOurs = fault.code === 'OVERLOADED' || (waitedMs >= LONG_WAIT_MS && (isOver || fault.code === 'UPSTREAM_UNREACHABLE'));
        if (this.#options.effect === 'read' && isOurs) return noRoom(!isOver).fault;
        return isOver ? this.#outOfTime(exchange?.isSent() === true) : fault;
    }

    /** Its site is not to blame: it may be as slow as it always is. */
    #giveUp(): void {
        this.#isGivenUp = true;
        this.#time.end();
    }

    /** @param isSent whether the request in flight was handed to a connection */
    #outOfTime(isSent: boolean): Fault {
        if (this.#isGivenUp) return { code: 'OVERLOADED', message: KEEPS_TOO_LONG, isTransient: false, retryAfter: 1 };
        return { code: isSent || this.#mayHaveArrived ? 'UPSTREAM_TIMEOUT' : 'DEADLINE_EXCEEDED', isTransient: false };
    }

    #answered(page: Page): UpstreamAnswer {
        const durationMs = Math.round(performance.now() - this.#began);
        const figures = { status: page.status, attempts: this.#attempts, durationMs, bytes: page.body.length };
        return { ok: true, page, heads: this.#heads, figures };
    }

    async #failed({ code, message, retryAfter, status, snippet = '' }: Fault): Promise<UpstreamFailure> {
        const isUnsent = await this.#isUnsent();
        return {
            ok: false,
            code,
            attempts: this.#attempts,
            ...(message === undefined ? {} : { message }),
            // Of a site that says 0 as well: callers are told whole seconds, of which the least is one.
            ...(retryAfter === undefined ? {} : { retryAfter: Math.max(1, retryAfter) }),
            ...(status === undefined ? {} : { upstream: { status, snippet } }),
            ...(isUnsent ? { isUnsent: true } : {}),
        };
    }

    /** Whether a write was marked by this call and never sent. The call may have ended while its mark was under way. */
    async #isUnsent(): Promise<boolean> {
        if (this.#marking === undefined || this.#mayHaveArrived) return false;
        return Promise.race([this.#marking.catch(() => false), delay(LATE_MARK_MS, false, { ref: false })]);
    }
}
