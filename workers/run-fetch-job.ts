import type { Identity } from '../shared/domain/build-request.ts';
import { isExecutable } from '../shared/domain/executable.ts';
import type { FetchFailure, FetchJob, FetchOutcome } from '../shared/domain/fetch.ts';
import type { Endpoint, JsonObject } from '../shared/domain/types.ts';
import { cutResults, resultsAt } from '../shared/domain/wrap-result.ts';
import { KIND_EXECUTORS } from './kinds/kinds.ts';
import type { Reader } from './select/reader.ts';
import type { SendOptions, Upstream, UpstreamAnswer } from './upstream.ts';

/** What a job needs of its worker. */
export interface FetchTools {
    /** The endpoint of an immutable version, and the domain that its requests may not leave. */
    loadEndpoint(versionId: number, name: string): Promise<{ endpoint: Endpoint; registrable: string } | undefined>;
    /** `held → sent`; false where the API has already let go of the hold, and then nothing may be sent. */
    markSent(operation: string): Promise<boolean>;
    upstream: Upstream;
    reader: Reader;
    userAgent(): string;
}

/**
 * One call of a site: plan → mark (writes) → send → read → cut, until it is done or refused (CONTRACT 4). What a site, a package or
 * the clock can do comes back as a value; whatever is thrown is a bug and the caller's to log.
 */
export async function runFetchJob(tools: FetchTools, job: FetchJob, signal: AbortSignal): Promise<FetchOutcome> {
    const startedAt = Date.now();
    if (startedAt >= job.deadlineAt || signal.aborted) return { ok: false, code: 'DEADLINE_EXCEEDED', startedAt, attempts: 0 };
    const found = await tools.loadEndpoint(job.versionId, job.endpoint);
    if (found === undefined) return { ok: false, code: 'ENDPOINT_NOT_FOUND', startedAt, attempts: 0 };
    const { endpoint, registrable } = found;
    if (!isExecutable(endpoint)) return { ok: false, code: 'ENDPOINT_NOT_HOSTED', startedAt, attempts: 0 };

    const identity: Identity = { userAgent: tools.userAgent() };
    const request = KIND_EXECUTORS[endpoint.kind].plan(endpoint, job.values, identity);
    const answer = await tools.upstream.send(request, sendOptions(tools, job, registrable, signal));
    if (!answer.ok) return { ...answer, startedAt };

    const reading = await tools.reader.read(answer.page, endpoint);
    if (!reading.ok) return { ...reading, startedAt, attempts: answer.figures.attempts };
    return outcomeOf(endpoint, reading.data, answer, job, startedAt);
}

function sendOptions({ markSent }: FetchTools, job: FetchJob, registrable: string, signal: AbortSignal): SendOptions {
    const { site, effect, deadlineAt } = job;
    const mark = effect === 'write' ? { beforeFirstByte: () => markSent(job.operation) } : {};
    return { site, registrable, effect, deadlineAt, signal, ...mark };
}

function outcomeOf(endpoint: Endpoint, data: JsonObject, { figures }: UpstreamAnswer, job: FetchJob, startedAt: number): FetchOutcome {
    const { unit, results: path } = endpoint.billing;
    if (unit === 'result' && resultsAt(data, path) === undefined) return withoutResults(path, figures.attempts, startedAt);
    const cut = cutResults(data, path, job.maxResults);
    return { ok: true, ...cut, requests: 1, upstream: figures, startedAt };
}

/** What is billed by the result has to have results. */
function withoutResults(path: string, attempts: number, startedAt: number): FetchFailure {
    return {
        ok: false,
        code: 'UPSTREAM_INVALID_RESPONSE',
        message: 'The answer has no list of results where the schema says.',
        details: [{ path: `/${path.replaceAll('.', '/')}`, code: 'INVALID_TYPE', message: 'There is no array here.' }],
        startedAt,
        attempts,
    };
}
