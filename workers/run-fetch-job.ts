import type { Identity } from '../shared/domain/build-request.ts';
import type { FetchJob, FetchOutcome } from '../shared/domain/fetch.ts';
import type { Endpoint } from '../shared/domain/types.ts';
import { NO_SPAN } from '../shared/tracing.ts';
import { type Collected, collectOne, collectPages } from './collect.ts';
import { KIND_EXECUTORS } from './kinds/kinds.ts';
import { mayKeep } from './may-keep.ts';
import { prepareCall } from './prepare-call.ts';
import { openReadingTurn, type Reader } from './select/reader.ts';
import { type CallTools, openSiteCall, type SiteCall } from './site-call.ts';

/** What a job needs of its worker. */
export interface FetchTools extends CallTools {
    /** The endpoint of an immutable version, and the domain that its requests may not leave. */
    loadEndpoint(versionId: number, name: string): Promise<{ endpoint: Endpoint; registrable: string } | undefined>;
    reader: Reader;
    userAgent(): string;
}

/**
 * One call of a site: prepare → plan → mark (writes) → send → read and cut, until it is done or refused (CONTRACT 4). What a site, a
 * package or the clock can do comes back as a value; whatever is thrown is a bug and the caller's to log.
 * @param span of the job, where it is traced
 */
export async function runFetchJob(tools: FetchTools, job: FetchJob, signal: AbortSignal, span = NO_SPAN): Promise<FetchOutcome> {
    const startedAt = Date.now();
    if (startedAt >= job.deadlineAt || signal.aborted) return { ok: false, code: 'DEADLINE_EXCEEDED', startedAt, attempts: 0 };
    const found = await tools.loadEndpoint(job.versionId, job.endpoint);
    if (found === undefined) return { ok: false, code: 'ENDPOINT_NOT_FOUND', startedAt, attempts: 0 };
    const { endpoint, registrable } = found;

    const { reader } = tools;
    const identity: Identity = { userAgent: tools.userAgent() };
    const call = openSiteCall(tools, job, { registrable, signal, keepsCookies: endpoint.prepare !== undefined, span });
    const turn = openReadingTurn(registrable, job.deadlineAt);
    try {
        const prepared = await prepareCall(call, reader, endpoint, identity, turn);
        if (!prepared.ok) return { attempts: call.figures().attempts, ...prepared, startedAt };

        const collect = endpoint.pagination === undefined ? collectOne : collectPages;
        const collected = await collect({ call, reader, endpoint, job, identity, form: prepared.form, turn });
        if (!collected.ok) return { attempts: call.figures().attempts, ...collected, startedAt };
        return outcomeOf(endpoint, collected, call, startedAt);
    } finally {
        call.close();
    }
}

function outcomeOf(endpoint: Endpoint, collected: Collected, call: SiteCall, startedAt: number): FetchOutcome {
    const { text, results, truncated, pagesWithItems, isMoreLeft } = collected;
    return {
        ok: true,
        text,
        results,
        requests: KIND_EXECUTORS[endpoint.kind].requests(pagesWithItems),
        truncated: truncated || isMoreLeft,
        mayKeep: call.heads().every((head) => mayKeep(endpoint, head)),
        upstream: call.figures(),
        startedAt,
    };
}
