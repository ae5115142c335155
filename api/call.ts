import type { Request } from '@hapi/hapi';
import type { App } from '../shared/app.ts';
import type { KeyUse } from '../shared/contracts/contract.ts';
import type { Span } from '../shared/platform/tracing.ts';
import type { Caller } from '../shared/store/accounts/callers.ts';
import type { KeyedCall } from '../shared/store/fetch/idempotency.ts';

interface Input<Params, Query, Body> {
    params: Params;
    query: Query;
    body: Body;
    /** The raw body of a route with `guard: false`; otherwise empty. */
    bodyBytes: Buffer;
}

/** The input of a handler: validated parameters and the caller. */
export interface Call<Params, Query, Body, By extends Caller | undefined = Caller> extends Input<Params, Query, Body> {
    app: App;
    /** The name of the route's contract. */
    route: string;
    caller: By;
    requestId: string;
    /** The time of arrival, by the monotonic clock. */
    startedAt: number;
    span: Span;
    /** `op_…`: our own id of this call. It is always unique; request ids may repeat. */
    operation: string;
    /** The call's Idempotency-Key, where the route supports it. */
    keyed?: KeyedCall;
    /** The client's address; see TRUST_PROXY. */
    clientAddress: string;
    /** The request itself, for a route that reads its body as a stream. */
    request: Request;
    header(name: string): string | undefined;
    /** Aborted when the caller hangs up. */
    gone: AbortSignal;
    /** Marks the call as waiting for an event, so that other reads of the same client do not wait for it. */
    endRead(): void;
    notes: AnswerNotes;
}

/** A call of a route that does not require a key. */
export type OpenCall<Params, Query, Body> = Call<Params, Query, Body, Caller | undefined>;

export type CallerOf<Auth extends KeyUse> = Auth extends 'required' ? Caller : Caller | undefined;

export interface AnswerNotes {
    /** Headers of the answer, also of a refusal. */
    readonly headers: Record<string, string>;
    /** The remaining credits, for the body of a refusal. */
    creditsRemaining?: number | undefined;
    /** Whether a failure is stored under the Idempotency-Key, because a write may have been sent. */
    isFinal?: boolean;
    /** Milliseconds that a worker spent on the fetch; undefined if no worker took it. */
    ranMs?: number | undefined;
    /** The call is already in the request log. */
    isRecorded?: boolean;
    /** Whether the registry knows the site of a fetch; undefined if the call was rejected before the look-up. */
    isKnownSite?: boolean;
}

export type Reply<Answer> = {
    status?: number;
    headers?: Record<string, string>;
    pagination?: { limit: number; next_cursor: string | null; total: number };
    /** Fields of a list's `meta` other than the pagination. */
    meta?: object;
} & (
    | {
          /** `data`, or the whole body if the contract's shape is `whole`. */
          answer: Answer;
      }
    | {
          /** The whole body. */
          text: string;
          /** Whether it is already stored under the call's key. */
          isKept: boolean;
      }
    | {
          /** Lines of JSON, produced while the client reads. */
          lines: AsyncIterable<string>;
      }
);

export interface Rendered {
    text: string;
    status: number;
    headers: Record<string, string>;
    /** Whether it is already stored under the call's key. */
    isKept: boolean;
}

/** The id by which the caller groups its calls. */
export function sessionOf({ header }: Pick<OpenCall<unknown, unknown, unknown>, 'header'>): string | undefined {
    return header('x-service-session')?.slice(0, 64);
}

/** A signal that aborts when the connection closes before the answer is written. Created only for routes that use it. */
export function goneSignal(request: Request): AbortSignal {
    const controller = new AbortController();
    const { res } = request.raw;
    res.once('close', () => {
        if (!res.writableFinished) controller.abort();
    });
    return controller.signal;
}
