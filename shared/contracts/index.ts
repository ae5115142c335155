import { getAccount } from './account.ts';
import { getAudit } from './audit.ts';
import * as batches from './batches.ts';
import { getCatalog } from './catalog.ts';
import * as claims from './claims.ts';
import * as connections from './connections.ts';
import type { AnyContract } from './contract.ts';
import * as discovery from './discovery.ts';
import { getEndpoints } from './endpoints.ts';
import { getEvents } from './events.ts';
import { postFetch } from './fetch.ts';
import * as jobs from './jobs.ts';
import { postKeyReport } from './key-reports.ts';
import { getSchemas } from './lists.ts';
import * as maintainers from './maintainers.ts';
import * as monitors from './monitors.ts';
import * as oauth from './oauth.ts';
import * as reports from './reports.ts';
import * as requests from './requests.ts';
import * as schemas from './schemas.ts';
import * as sitePolicy from './site-policy.ts';
import { getTrending } from './trending.ts';
import * as versions from './versions.ts';
import * as webhooks from './webhooks.ts';

/** The API's table of contents: every route under /v1, in the order of the documents. */
export const CONTRACTS = [
    getEndpoints,
    getCatalog,
    postFetch,
    connections.postConnection,
    connections.getConnections,
    connections.getConnection,
    connections.patchConnection,
    connections.testConnection,
    oauth.authorizeConnection,
    oauth.putOAuthClient,
    oauth.deleteOAuthClient,
    connections.deleteConnection,
    jobs.postJob,
    jobs.getJobs,
    jobs.getJob,
    jobs.deleteJob,
    jobs.deleteJobResult,
    monitors.postMonitor,
    monitors.getMonitors,
    monitors.getMonitor,
    monitors.patchMonitor,
    monitors.postMonitorRun,
    monitors.getMonitorChanges,
    monitors.getMonitorRuns,
    monitors.deleteMonitor,
    batches.postBatch,
    batches.getBatches,
    batches.getBatch,
    batches.getBatchResults,
    batches.postBatchPause,
    batches.postBatchResume,
    batches.postBatchRetry,
    batches.deleteBatch,
    schemas.postSchema,
    getSchemas,
    schemas.getSchema,
    versions.getVersions,
    versions.postYank,
    versions.deleteYank,
    maintainers.getMaintainers,
    maintainers.putMaintainer,
    maintainers.deleteMaintainer,
    schemas.getPackage,
    reports.postReport,
    reports.getReports,
    claims.postClaim,
    claims.getClaims,
    claims.postClaimCheck,
    sitePolicy.getPolicy,
    sitePolicy.putPolicy,
    claims.deleteClaim,
    requests.postSchemaRequest,
    requests.getSchemaRequest,
    getAccount,
    getAudit,
    getEvents,
    webhooks.postWebhook,
    webhooks.getWebhooks,
    webhooks.getWebhook,
    webhooks.patchWebhook,
    webhooks.deleteWebhook,
    webhooks.postWebhookRotate,
    webhooks.postWebhookTest,
    webhooks.getDeliveries,
    webhooks.postRedeliver,
    postKeyReport,
    discovery.getCategories,
    getTrending,
    discovery.getErrors,
    discovery.getHealth,
    discovery.getOpenApi,
] as unknown as readonly AnyContract[];
