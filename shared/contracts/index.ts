import { getAccount } from './account.ts';
import { getAudit } from './audit.ts';
import {
    deleteBatch,
    getBatch,
    getBatches,
    getBatchResults,
    postBatch,
    postBatchPause,
    postBatchResume,
    postBatchRetry,
} from './batches.ts';
import { getCatalog } from './catalog.ts';
import { deleteClaim, getClaims, postClaim, postClaimCheck } from './claims.ts';
import { deleteConnection, getConnection, getConnections, patchConnection, postConnection, testConnection } from './connections.ts';
import type { AnyContract } from './contract.ts';
import { getCategories, getErrors, getHealth, getOpenApi } from './discovery.ts';
import { getEndpoints } from './endpoints.ts';
import { getEvents } from './events.ts';
import { postFetch } from './fetch.ts';
import { deleteJob, deleteJobResult, getJob, getJobs, postJob } from './jobs.ts';
import { postKeyReport } from './key-reports.ts';
import { getSchemas } from './lists.ts';
import { deleteMaintainer, getMaintainers, putMaintainer } from './maintainers.ts';
import {
    deleteMonitor,
    getMonitor,
    getMonitorChanges,
    getMonitorRuns,
    getMonitors,
    patchMonitor,
    postMonitor,
    postMonitorRun,
} from './monitors.ts';
import { authorizeConnection, deleteOAuthClient, putOAuthClient } from './oauth.ts';
import { getReports, postReport } from './reports.ts';
import { getSchemaRequest, postSchemaRequest } from './requests.ts';
import { getPackage, getSchema, postSchema } from './schemas.ts';
import { getPolicy, putPolicy } from './site-policy.ts';
import { getTrending } from './trending.ts';
import { deleteYank, getVersions, postYank } from './versions.ts';
import {
    deleteWebhook,
    getDeliveries,
    getWebhook,
    getWebhooks,
    patchWebhook,
    postRedeliver,
    postWebhook,
    postWebhookRotate,
    postWebhookTest,
} from './webhooks.ts';

/** The API's table of contents: every route under /v1, in the order of the documents. */
export const CONTRACTS = [
    getEndpoints,
    getCatalog,
    postFetch,
    postConnection,
    getConnections,
    getConnection,
    patchConnection,
    testConnection,
    authorizeConnection,
    putOAuthClient,
    deleteOAuthClient,
    deleteConnection,
    postJob,
    getJobs,
    getJob,
    deleteJob,
    deleteJobResult,
    postMonitor,
    getMonitors,
    getMonitor,
    patchMonitor,
    postMonitorRun,
    getMonitorChanges,
    getMonitorRuns,
    deleteMonitor,
    postBatch,
    getBatches,
    getBatch,
    getBatchResults,
    postBatchPause,
    postBatchResume,
    postBatchRetry,
    deleteBatch,
    postSchema,
    getSchemas,
    getSchema,
    getVersions,
    postYank,
    deleteYank,
    getMaintainers,
    putMaintainer,
    deleteMaintainer,
    getPackage,
    postReport,
    getReports,
    postClaim,
    getClaims,
    postClaimCheck,
    getPolicy,
    putPolicy,
    deleteClaim,
    postSchemaRequest,
    getSchemaRequest,
    getAccount,
    getAudit,
    getEvents,
    postWebhook,
    getWebhooks,
    getWebhook,
    patchWebhook,
    deleteWebhook,
    postWebhookRotate,
    postWebhookTest,
    getDeliveries,
    postRedeliver,
    postKeyReport,
    getCategories,
    getTrending,
    getErrors,
    getHealth,
    getOpenApi,
] as unknown as readonly AnyContract[];
