import type { FindMeta, FoundEndpoint } from '../../shared/contracts/endpoints.ts';
import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { Json } from '../../shared/domain/types.ts';

/** Types of the wire, from the server's contracts: `data`, or the complete body of a catalog look-up and a fetch. */
export type { AccountAnswer } from '../../shared/contracts/account.ts';
export type { AuditEntry, AuditQuery } from '../../shared/contracts/audit.ts';
export type {
    Batch,
    BatchDefaults,
    BatchDryRun,
    BatchesQuery,
    BatchFields,
    BatchItem,
    EndedItem,
} from '../../shared/contracts/batch-fields.ts';
export type { CatalogAnswer, CatalogEndpoint, CatalogParam } from '../../shared/contracts/catalog.ts';
export type { ClaimChecked, ClaimDeleted, ClaimEntry } from '../../shared/contracts/claims.ts';
export type { ConnectionDeleted, ConnectionEntry, ConnectionOrder, ConnectionPatch } from '../../shared/contracts/connections.ts';
export type { Category, ErrorEntry, HealthAnswer } from '../../shared/contracts/discovery.ts';
export type { EndpointsQuery, FoundEndpoint } from '../../shared/contracts/endpoints.ts';
export type { EventEntry, EventsQuery } from '../../shared/contracts/events.ts';
export type { FetchAnswer, FetchMeta, FetchRequest } from '../../shared/contracts/fetch.ts';
export type { Job, JobsQuery } from '../../shared/contracts/jobs.ts';
export type { KeyReport, KeyReportEntry } from '../../shared/contracts/key-reports.ts';
export type { SchemasQuery } from '../../shared/contracts/lists.ts';
export type { MaintainerEntry } from '../../shared/contracts/maintainers.ts';
export type { Monitor, MonitorChange, MonitorChanges, MonitorOrder, MonitorRun } from '../../shared/contracts/monitor-fields.ts';
export type { AuthorizeAnswer, AuthorizeOrder } from '../../shared/contracts/oauth.ts';
export type { RequestAnswer, RequestCreated, RequestOrder } from '../../shared/contracts/requests.ts';
export type { Card, Changes, DownloadedPackage, PublishAnswer } from '../../shared/contracts/schemas.ts';
export type { TrendingAnswer } from '../../shared/contracts/trending.ts';
export type { VersionEntry, YankOrder } from '../../shared/contracts/versions.ts';
export type { Health } from '../../shared/contracts/vocabulary.ts';
export type { DeliveriesQuery, DeliveryEntry, WebhookDeleted, WebhookEntry, WebhookOrder } from '../../shared/contracts/webhooks.ts';
export type { BatchStatus, JobStatus } from '../../shared/domain/jobs/states.ts';
export type { MonitorStatus } from '../../shared/domain/monitors/states.ts';
export type { ToolDefinition } from '../../shared/domain/package/tool-export.ts';
export type { SourceFile } from '../../shared/domain/package/typescript-export.ts';
export type { BlockedPath, Hours, SitePolicy } from '../../shared/domain/site/site-policy.ts';
export type {
    BodyFormat,
    Effect,
    Json,
    JsonObject,
    JsonSchema,
    Kind,
    Method,
    PackageDocument,
    PackageEndpoint,
    PackageParam,
    ParamSource,
    ParamStyle,
} from '../../shared/domain/types.ts';
export type { Detail, DetailCode, Fault, ItemDetail, RefusalCode } from '../../shared/refusals.ts';

/** The value of a param: JSON, or a `bigint`, which is sent with all its digits. */
export type CallValue = Json | bigint | CallValue[] | { [key: string]: CallValue };

/** The endpoints found for a task, or a suggested schema request if there are none. */
export interface FindAnswer {
    data: FoundEndpoint[];
    meta: FindMeta & { pagination: { limit: number; next_cursor: string | null; total: number } };
}

export type FetchOrder = Omit<FetchRequest, 'params'> & { params?: { [name: string]: CallValue } };

/** The result of `health()` if fetches cannot be served (status 503). */
export interface UnavailableHealth {
    status: 'unavailable';
    version: string;
    checks: Record<'database' | 'queue' | 'workers', 'ok' | 'down'>;
}
