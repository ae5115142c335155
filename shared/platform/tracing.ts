export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/**
 * Attributes of a span, named by OpenTelemetry's conventions; others begin with `routebook.`. They never contain params, queries, headers,
 * bodies or keys, because people other than the caller may read traces.
 */
export type Traits = Readonly<Record<string, string | number>>;

/** A span: one part of a call, from its beginning until `end`. */
export interface Span {
    /** 32 hex digits; undefined if nothing is traced. */
    readonly traceId: string | undefined;
    /** W3C `traceparent` for the next process; undefined if tracing is off. */
    readonly context: string | undefined;
    child(name: string, kind?: SpanKind, traits?: Traits): Span;
    /** Runs `act` in a child span. Records the code of an error that `act` throws, and rethrows it. */
    during<T>(name: string, act: (part: Span) => Promise<T>, kind?: SpanKind): Promise<T>;
    rename(name: string): void;
    set(traits: Traits): void;
    /** Marks the span as failed. `code`: the code of the refusal, or the name of the error. */
    fail(code: string): void;
    end(): void;
}

interface SpanOrder {
    kind: SpanKind;
    /** The `traceparent` as received. A malformed one is ignored. */
    parent?: string | undefined;
    traits?: Traits;
}

/** Creates the first span of a process in a trace. */
export interface Tracing {
    begin(name: string, order: SpanOrder): Span;
    /** Exports the ended spans, for at most a second. Never rejects. */
    close(): Promise<void>;
}

/** The span of code that is not traced. It costs the call of an empty function. */
export const NO_SPAN: Span = Object.freeze({
    traceId: undefined,
    context: undefined,
    child: () => NO_SPAN,
    during: <T>(_name: string, act: (part: Span) => Promise<T>) => act(NO_SPAN),
    rename() {},
    set() {},
    fail() {},
    end() {},
});

/** The tracing of a process without a collector, and of the command line. */
export const NO_TRACING: Tracing = Object.freeze({ begin: () => NO_SPAN, close: async () => {} });
