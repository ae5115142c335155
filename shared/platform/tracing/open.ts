import type { Config } from '../config.ts';
import type { ConnectionLog } from '../connection-log.ts';
import { NO_TRACING, type Tracing } from '../tracing.ts';

/**
 * Opens tracing to the collector of OTEL_EXPORTER_OTLP_ENDPOINT. Without that setting, OpenTelemetry is not loaded.
 * @param service `service.name`, by which collectors distinguish processes
 */
export async function openTracing(
    { otelEndpoint, shutdownGraceMs }: Pick<Config, 'otelEndpoint' | 'shutdownGraceMs'>,
    { service, log }: { service: 'routebook' | 'routebook-api' | 'routebook-worker'; log: ConnectionLog },
): Promise<Tracing> {
    if (otelEndpoint === undefined) return NO_TRACING;
    const { traceTo } = await import('./otel.ts');
    return traceTo({ endpoint: otelEndpoint, service, graceMs: shutdownGraceMs, log });
}
