/** OpenTelemetry's span kinds. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/**
 * Attributes of a span, named by OpenTelemetry's conventions; others begin with `routebook.`. Never params,
 * queries, headers, bodies or keys: readers of traces may not be the caller.
 */
export type Traits = Readonly<Record<string, string | number>>;

/** One part of a call, from its beginning until `end`. */
export interface Span {
    /** 32 hex digits; undefined if nothing is traced. */
    readonly traceId: string | undefined;
    /** W3C `traceparent` for the next process; undefined if tracing is off. */
    readonly context: string | undefined;
    /** Begins a part of this part. */
    child(name: string, kind?: SpanKind, traits?: Traits): Span;
    /** Runs `act` as a part of this part; what `act` throws is noted by its code and passed on. */
    during<T>(name: string, act: (part: Span) => Promise<T>, kind?: SpanKind): Promise<T>;
    rename(name: string): void;
    set(traits: Traits): void;
    /** It went wrong: the code of the refusal, or the name of the error. */
    fail(code: string): void;
    end(): void;
}

interface SpanOrder {
    kind: SpanKind;
    /** A `traceparent` as it came, from anybody: one that is not well-formed counts as none. */
    parent?: string | undefined;
    traits?: Traits;
}

/** Where a process begins its part of a trace. */
export interface Tracing {
    begin(name: string, order: SpanOrder): Span;
    /** Hands over what has ended, as far as that can be done within a second; never rejects. */
    close(): Promise<void>;
}

/** The span for code that is not traced. It costs the call of an empty function. */
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

/** Of a process without a collector, and of the command line. */
export const NO_TRACING: Tracing = Object.freeze({ begin: () => NO_SPAN, close: async () => {} });
