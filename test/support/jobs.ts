import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { JsonObject, PackageEndpoint, Values } from '../../shared/domain/types.ts';
import type { EgressRules } from '../../workers/egress.ts';
import { runFetchJob } from '../../workers/run-fetch-job.ts';
import { createReader } from '../../workers/select/reader.ts';
import { createMemoryBudget, type MemoryBudget } from '../../workers/upstream/memory-budget.ts';
import { createUpstream } from '../../workers/upstream.ts';

const USER_AGENT = 'Routebook/test (+http://localhost/abuse)';

/** A worker without a queue. It runs one job after the other against the endpoints of a test. */
export interface JobRunner {
    /** Runs a call with the limits of a fully paid hold. */
    run(endpoint: string, values?: Values, more?: Partial<FetchJob>, gone?: AbortSignal): Promise<FetchOutcome>;
    /** Operations that were marked as sent. */
    marks: string[];
    /** Bytes of answers that calls still keep in memory. */
    held(): number;
    close(): Promise<void>;
}

interface JobRunnerOptions {
    memoryBudget?: MemoryBudget;
    afterwards?: (act: () => void) => void;
    /** CPU limit of `select` in milliseconds, for slow machines. */
    taskMs?: number;
}

export function openJobRunner(
    site: string,
    rules: EgressRules,
    documents: readonly PackageEndpoint[],
    { memoryBudget = createMemoryBudget(), afterwards, taskMs }: JobRunnerOptions = {},
): JobRunner {
    const endpoints = new Map(documents.map((document) => [document.name, readEndpoint(document)]));
    const upstream = createUpstream({ rules });
    const reader = createReader({ threads: 1, ...(taskMs === undefined ? {} : { taskMs }) });
    const marks: string[] = [];
    const tools = {
        loadEndpoint: async (_versionId: number, name: string) => {
            const endpoint = endpoints.get(name);
            return endpoint === undefined ? undefined : { endpoint, registrable: site };
        },
        markSent: async (operation: string) => {
            marks.push(operation);
            return true;
        },
        upstream,
        reader,
        memoryBudget,
        userAgent: () => USER_AGENT,
    };
    return {
        marks,
        held: () => memoryBudget.held(),
        async run(name, values = {}, more = {}, gone = new AbortController().signal) {
            const endpoint = endpoints.get(name);
            const now = Date.now();
            const job: FetchJob = {
                operation: 'op_1',
                requestId: 'req_1',
                site,
                versionId: 1,
                endpoint: name,
                effect: endpoint?.effect ?? 'read',
                values: JSON.stringify(values),
                deadlineAt: now + 20_000,
                admittedAt: now,
                maxResults: endpoint?.billing.maxResults ?? 100,
                maxPages: endpoint?.pagination?.maxPages ?? 1,
                run: 1,
                ...more,
            };
            return runFetchJob(tools, job, gone, afterwards === undefined ? {} : { afterwards });
        },
        async close() {
            upstream.close();
            await reader.close();
        },
    };
}

/** Returns a successful outcome with the data for the caller. @throws if it is a failure */
export function done(outcome: FetchOutcome): FetchOutcome & { ok: true } & { data: JsonObject } {
    if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message ?? ''} ${JSON.stringify(outcome.details ?? '')}`);
    return { ...outcome, data: JSON.parse(outcome.text) as JsonObject };
}
