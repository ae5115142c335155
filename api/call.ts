import type { App } from '../shared/app.ts';
import type { Span } from '../shared/platform/tracing.ts';
import type { Caller } from '../shared/store/accounts/api-keys.ts';
import type { KeyedCall } from '../shared/store/fetch/idempotency.ts';
import type { Input } from './validate.ts';

/** The input of a handler: validated parameters and the caller. */
export interface Call<Params, Query, Body> extends Input<Params, Query, Body> {
    app: App;
    /** Undefined without a key, which only `optional` and `ignored` routes allow. */
    caller: Caller | undefined;
    requestId: string;
    /** The time of arrival, by the monotonic clock. */
    startedAt: number;
    /** The span of the whole request. */
    span: Span;
    /** `op_…`: our own id of this call. It is always unique; request ids may repeat. */
    operation: string;
    /** The call's Idempotency-Key, where the route supports it. */
    keyed?: KeyedCall;
    /** The client's address; see TRUST_PROXY. */
    clientAddress: string;
    /** One header of the request, or undefined. */
    header(name: string): string | undefined;
    /** Aborted when the caller hangs up. */
    gone: AbortSignal;
    /** Sets headers of the answer, also of a refusal. */
    setHeaders(headers: Record<string, string>): void;
    /** Sets the credit fields of a refusal. */
    setCreditsRemaining(credits: number): void;
    /** Sets whether a later failure is stored under the call's key: a write may have been sent. */
    setFinal(isFinal: boolean): void;
    /** Records that the request log already has this call. */
    setLogged(): void;
}

export type Reply<Answer> = {
    status?: number;
    headers?: Record<string, string>;
    pagination?: { limit: number; next_cursor: string | null; total: number };
} & (
    | {
          /** `data`, or the whole body where the contract says so. */
          answer: Answer;
      }
    | {
          /** The whole body. */
          text: string;
          /** Whether it is already stored under the call's key. */
          isKept: boolean;
      }
);

/** An answer with status and headers. */
export interface Rendered {
    text: string;
    status: number;
    headers: Record<string, string>;
    /** Whether it is already stored under the call's key. */
    isKept: boolean;
}
