import type { RequestListener } from 'node:http';
import { openSite, type Seen } from './sites.ts';

/** A received span. */
export interface Arrived {
    traceId: string;
    spanId: string;
    parentId: string;
    name: string;
    kind: string;
    /** `service.name` of the process that sent it. */
    service: string;
    /** Nanoseconds since the epoch. */
    beganAt: bigint;
    traits: Record<string, string | number>;
    isFailed: boolean;
}

/** A trace collector on loopback that accepts OTLP as JSON. */
export interface Collector {
    endpoint: string;
    /** The received requests. */
    seen: Seen[];
    spans(): Arrived[];
    close(): Promise<void>;
}

const TAKES_ALL: RequestListener = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');

/** Opens the collector. @param answer answers each request, instead of accepting it */
export async function openCollector(answer: RequestListener = TAKES_ALL): Promise<Collector> {
    const site = await openSite(answer);
    return {
        endpoint: `http://127.0.0.1:${site.port}`,
        seen: site.seen,
        spans: () => site.seen.flatMap(({ body }) => spansIn(JSON.parse(body))),
        close: site.close,
    };
}

/**
 * Formats a trace as an outline with a line for each span: its name, the process if it differs from that of the line above, and the
 * requested traits.
 */
export function outline(spans: readonly Arrived[], show: readonly string[] = []): string[] {
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const below = (parent: string | undefined, service: string, depth: number): string[] =>
        spans
            .filter((span) => (parent === undefined ? !ids.has(span.parentId) : span.parentId === parent))
            .toSorted((one, other) => Number(one.beganAt - other.beganAt))
            .flatMap((span) => {
                const shown = show.flatMap((name) => (name in span.traits ? [String(span.traits[name])] : []));
                const words = [span.name, ...(span.service === service ? [] : [`in ${span.service}`]), ...shown];
                return [`${'  '.repeat(depth)}${words.join(' ')}`, ...below(span.spanId, span.service, depth + 1)];
            });
    return below(undefined, '', 0);
}

interface Attribute {
    key: string;
    value: { stringValue?: string; intValue?: string | number };
}

interface TracesDocument {
    resourceSpans: {
        resource: { attributes: Attribute[] };
        scopeSpans: {
            spans: {
                traceId: string;
                spanId: string;
                parentSpanId?: string;
                name: string;
                kind: number;
                startTimeUnixNano: string;
                attributes: Attribute[];
                status?: { code?: number };
            }[];
        }[];
    }[];
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUS_ERROR = 2;

function spansIn({ resourceSpans }: TracesDocument): Arrived[] {
    return resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
            spans.map(({ traceId, spanId, parentSpanId = '', name, kind, startTimeUnixNano, attributes, status }) => ({
                traceId,
                spanId,
                parentId: parentSpanId,
                name,
                kind: KINDS[kind] ?? String(kind),
                service: String(traitsOf(resource.attributes)['service.name']),
                beganAt: BigInt(startTimeUnixNano),
                traits: traitsOf(attributes),
                isFailed: status?.code === STATUS_ERROR,
            })),
        ),
    );
}

function traitsOf(attributes: Attribute[]): Arrived['traits'] {
    return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
}
