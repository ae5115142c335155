import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
    type Context,
    isSpanContextValid,
    SpanKind as Kind,
    type Span as OtelSpan,
    ROOT_CONTEXT,
    SpanStatusCode,
    type Tracer,
    trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { type ConnectionLog, type ConnectionStatus, watchConnection } from '../connection-log.ts';
import type { Span, SpanKind, Tracing, Traits } from '../tracing.ts';
import { VERSION } from '../version.ts';

/** Delay of a batch of ended spans. */
const DELAY_MS = 1000;
/** Timeout of an export, including the exporter's retries. */
const EXPORT_MS = 5000;
/** Maximum number of spans that wait while the collector is slow or down, about 5 MiB. Further spans are dropped. */
const MAX_WAITING = 4096;
const LARGEST_BATCH = 512;
/** Time to export the last spans when the process stops, if its grace time allows. */
const FLUSH_MS = 1000;

/**
 * Exports traces over OTLP/HTTP. Only this file uses OpenTelemetry, and it is loaded only if there is a collector. No instrumentation
 * patches our libraries. Our code creates all spans, so that they contain data of a caller or a site only if we add it (decision 12).
 */
export function traceTo({
    endpoint,
    service,
    graceMs,
    log,
}: {
    endpoint: string;
    service: string;
    graceMs: number;
    log: ConnectionLog;
}): Tracing {
    const status = watchConnection(log, 'traces');
    const exporter = withStatus(new OTLPTraceExporter({ url: tracesUrl(endpoint), timeoutMillis: EXPORT_MS }), status);
    const resource = { 'service.name': service, 'service.version': VERSION, 'service.instance.id': randomUUID() };
    // By default, the provider samples everything unless the trace of the caller is not sampled.
    const provider = new TracerProvider({
        resource: defaultResource().merge(resourceFromAttributes(resource)),
        spanProcessors: [
            new BatchSpanProcessor({
                exporter,
                scheduledDelayMillis: DELAY_MS,
                exportTimeoutMillis: 2 * EXPORT_MS,
                maxQueueSize: MAX_WAITING,
                maxExportBatchSize: LARGEST_BATCH,
            }),
        ],
    });
    const tracer = provider.getTracer('routebook', VERSION);
    return {
        begin: (name, { kind, parent, traits }) => new TracedSpan(tracer, contextOf(parent), name, kind, traits),
        async close() {
            const flushMs = Math.min(FLUSH_MS, graceMs / 4);
            // The exporter has already reported failures.
            const flushed = provider.shutdown().then(
                () => true,
                () => true,
            );
            const isInTime = await Promise.race([flushed, sleep(flushMs, false, { ref: false })]);
            if (!isInTime) status.down(new Error(`the last spans were not exported within ${flushMs} ms`));
        },
    };
}

const KINDS: Readonly<Record<SpanKind, Kind>> = {
    internal: Kind.INTERNAL,
    server: Kind.SERVER,
    client: Kind.CLIENT,
    producer: Kind.PRODUCER,
    consumer: Kind.CONSUMER,
};

class TracedSpan implements Span {
    readonly #tracer: Tracer;
    readonly #span: OtelSpan;

    constructor(tracer: Tracer, parent: Context, name: string, kind: SpanKind, traits: Traits = {}) {
        this.#tracer = tracer;
        this.#span = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...traits } }, parent);
    }

    get traceId(): string {
        return this.#span.spanContext().traceId;
    }

    get context(): string {
        const { traceId, spanId, traceFlags } = this.#span.spanContext();
        return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
    }

    child(name: string, kind: SpanKind = 'internal', traits: Traits = {}): TracedSpan {
        return new TracedSpan(this.#tracer, trace.setSpan(ROOT_CONTEXT, this.#span), name, kind, traits);
    }

    async during<T>(name: string, act: (part: Span) => Promise<T>, kind: SpanKind = 'internal'): Promise<T> {
        const part = this.child(name, kind);
        try {
            return await act(part);
        } catch (error) {
            part.fail(codeOf(error));
            throw error;
        } finally {
            part.end();
        }
    }

    rename(name: string): void {
        this.#span.updateName(name);
    }

    set(traits: Traits): void {
        this.#span.setAttributes({ ...traits });
    }

    fail(code: string): void {
        this.#span.setAttribute('error.type', code);
        this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }

    end(): void {
        this.#span.end();
    }
}

/** W3C Trace Context: later versions may append fields after the flags, version 00 may not. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The context of the caller. An invalid `traceparent` begins a new trace. */
function contextOf(parent: string | undefined): Context {
    const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(parent ?? '') ?? [];
    const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
    const isOne = isSpanContextValid(context) && !(version === '00' && more !== undefined);
    return isOne ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

/** Never returns the message, which may repeat input. */
function codeOf(error: unknown): string {
    if (!(error instanceof Error)) return 'INTERNAL';
    return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The setting is the base URL of all signals. Traces have a path below it (OTLP exporter specification). */
function tracesUrl(endpoint: string): string {
    const url = new URL(endpoint);
    url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/v1/traces`;
    return url.href;
}

/** Wraps an exporter, so that each outage is logged once. */
function withStatus(exporter: OTLPTraceExporter, status: ConnectionStatus): SpanExporter {
    return {
        export(spans, done) {
            exporter.export(spans, (result) => {
                if (result.code === 0) status.up();
                else status.down(new Error(reasonOf(result.error)));
                done(result);
            });
        },
        shutdown: () => exporter.shutdown(),
    };
}

/** Omits the text of the collector's answer, which may be a whole page. */
function reasonOf(error: Error | undefined): string {
    if (error === undefined) return 'the collector did not take the spans';
    const { message } = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
    return message.slice(0, 200);
}
