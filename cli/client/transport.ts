import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { openDeadline } from './deadline.ts';
import { type Failure, failureOf, RoutebookError } from './errors.ts';

export interface RoutebookOptions {
    /** Where Routebook is, such as `http://localhost:8080`. */
    baseUrl: string;
    /** Browsing and five look-ups an hour need none. */
    apiKey?: string;
    /** A whole call with all its retries, in milliseconds; 90 000 by default. */
    timeoutMs?: number;
    /** How often a call is tried again at most; 4 by default. Waiting for our own first try to end does not count. */
    maxRetries?: number;
    /** Told before each wait. */
    onRetry?: (error: RoutebookError, waitMs: number) => void;
    /** Stands in for the global one, in tests and behind proxies. */
    fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
    /** Ends the call; it then rejects with the signal's reason. */
    signal?: AbortSignal;
    /** Of this call, with all its retries, in milliseconds. */
    timeoutMs?: number;
    /** Of a write; made by the client otherwise. */
    idempotencyKey?: string;
}

export interface ApiRequest {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    path: string;
    query?: Record<string, string | number | boolean | undefined>;
    body?: unknown;
    /** Sent as lines of JSON. */
    lines?: readonly unknown[];
    headers?: Record<string, string>;
    /** Whether a call whose answer was lost may simply be sent again: reads, and writes that the server recognises. */
    isRepeatable: boolean;
    /** Answers that are no error of this call, whatever their status. */
    accepts?: number;
}

const DEFAULT_TIMEOUT = 90_000;
const DEFAULT_RETRIES = 4;
/** Waits where the server names none: 250 ms, 500 ms, 1 s …, each anywhere between its half and its whole. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 8000;

/** Sends calls, and sends them again where that may help and can do no harm. */
export class Transport {
    readonly #base: string;
    readonly #options: RoutebookOptions;

    constructor(options: RoutebookOptions) {
        this.#base = checkedBase(options.baseUrl);
        this.#options = options;
    }

    get hasKey(): boolean {
        return this.#options.apiKey !== undefined;
    }

    /** The body of the answer. @throws RoutebookError, or the reason of `options.signal` */
    async call<Answer>(request: ApiRequest, options: CallOptions = {}): Promise<Answer> {
        const deadline = openDeadline(options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT, options.signal);
        const key = request.method === 'GET' ? undefined : (options.idempotencyKey ?? newKey());
        try {
            for (let retries = 0; ; ) {
                const outcome = await this.#try(request, key, deadline.signal);
                if (outcome.ok) return outcome.body as Answer;
                options.signal?.throwIfAborted();
                const { failure, cause, wasHeard } = outcome;
                const error = new RoutebookError(
                    key === undefined ? failure : { ...failure, idempotencyKey: key },
                    cause === undefined ? {} : { cause },
                );
                if (deadline.isOver()) throw timedOut(error, key);
                if (!error.retryable || !(wasHeard || request.isRepeatable)) throw error;
                const isOurs = error.code === 'IDEMPOTENCY_IN_PROGRESS';
                if (!isOurs && ++retries > (this.#options.maxRetries ?? DEFAULT_RETRIES)) throw error;
                const waitMs = waitBefore(retries, error.retryAfter);
                if (waitMs >= deadline.leftMs()) throw error;
                this.#options.onRetry?.(error, waitMs);
                await deadline.wait(waitMs);
                options.signal?.throwIfAborted();
            }
        } finally {
            deadline.close();
        }
    }

    async #try(request: ApiRequest, key: string | undefined, signal: AbortSignal): Promise<Tried> {
        const { fetch = globalThis.fetch, apiKey } = this.#options;
        let response: Response;
        let text: string;
        try {
            response = await fetch(this.#urlOf(request), {
                method: request.method,
                headers: {
                    accept: 'application/json',
                    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
                    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
                    ...(request.lines === undefined ? {} : { 'content-type': 'application/x-ndjson' }),
                    ...(key === undefined ? {} : { 'idempotency-key': key }),
                    ...request.headers,
                },
                ...(request.body === undefined ? {} : { body: JSON.stringify(request.body, withDigits) }),
                ...(request.lines === undefined ? {} : { body: request.lines.map((one) => JSON.stringify(one, withDigits)).join('\n') }),
                redirect: 'manual',
                signal,
            });
            text = await response.text();
        } catch (cause) {
            return { ok: false, failure: unreachable(cause, this.#base, request.isRepeatable), cause, wasHeard: false };
        }
        const body = parsed(text);
        const isAccepted = response.status === request.accepts && typeof body === 'object' && body !== null && 'data' in body;
        if (isAccepted || (response.ok && body !== undefined)) return { ok: true, body };
        const failure = failureOf(response.status, body, response.headers.get('retry-after'));
        return { ok: false, failure, wasHeard: failure.code !== 'INVALID_ANSWER' };
    }

    #urlOf({ path, query = {} }: ApiRequest): string {
        const pairs = Object.entries(query).flatMap(([name, value]) =>
            value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
        );
        return `${this.#base}${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
    }
}

/** `wasHeard`: the server itself said no, so that it did nothing. */
type Tried = { ok: true; body: unknown } | { ok: false; failure: Failure; cause?: unknown; wasHeard: boolean };

function checkedBase(text: string): string {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if ((url?.protocol !== 'http:' && url?.protocol !== 'https:') || url.username !== '' || url.search !== '' || url.hash !== '') {
        throw new TypeError('baseUrl is the http or https address of a Routebook, such as http://localhost:8080');
    }
    return url.href.replace(/\/+$/, '');
}

function newKey(): string {
    const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function parsed(text: string): unknown {
    try {
        return parseExact(text);
    } catch {
        return undefined;
    }
}

/** A `bigint` is sent as a number with all its digits; older JavaScript rounds it. */
function withDigits(_key: string, value: unknown): unknown {
    return typeof value === 'bigint' ? (JSON.rawJSON?.(String(value)) ?? Number(value)) : value;
}

function unreachable(cause: unknown, base: string, retryable: boolean): Failure {
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    const known = reason instanceof Error && 'code' in reason && typeof reason.code === 'string' ? ` (${reason.code})` : '';
    return { code: 'NETWORK_ERROR', message: `${base} cannot be reached, or the connection broke off${known}.`, retryable };
}

function timedOut(last: RoutebookError, key: string | undefined): RoutebookError {
    const message = 'No answer came in time; the server may still be at work.';
    return new RoutebookError(
        { code: 'TIMEOUT', message, retryable: true, ...(key === undefined ? {} : { idempotencyKey: key }) },
        { cause: last },
    );
}

/** Never shorter than what the server asked for; the rest is chance, so that callers who failed together do not return together. */
function waitBefore(retry: number, retryAfter: number | undefined): number {
    if (retryAfter !== undefined) return retryAfter * 1000 * (1 + Math.random() / 5);
    const whole = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.max(0, retry - 1));
    return whole * (0.5 + Math.random() / 2);
}
