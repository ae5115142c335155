import type { IncomingHttpHeaders } from 'node:http';
import type { FetchFailure, FetchJob, FetchOutcome, UpstreamFigures } from '../shared/domain/fetch/fetch-job.ts';
import { parseExact } from '../shared/domain/json/exact-numbers.ts';
import type { Endpoint, Values } from '../shared/domain/types.ts';
import { NO_SPAN, type Span } from '../shared/platform/tracing.ts';
import { type Collected, collectOne } from './collect.ts';
import { collectPages } from './collect-pages.ts';
import type { CallCredential } from './credentials/credential.ts';
import { prepareCall } from './prepare-call.ts';
import { createReadingTurn, type Reader } from './select/reader.ts';
import { type CallTools, openSiteCall, type RunningCall, type SiteCall } from './site-call.ts';

export interface FetchTools extends CallTools {
    /** Loads an endpoint of an immutable version, and the domain that its requests stay on. */
    loadEndpoint(versionId: number, name: string): Promise<{ endpoint: Endpoint; registrable: string } | undefined>;
    reader: Reader;
    /** The credential of a job with a connection; absent in a worker without connections. */
    credentialOf?(job: FetchJob, endpoint: Endpoint): Promise<CallCredential | undefined>;
    userAgent(): string;
}

/**
 * Runs one call of a site: prepare → plan → mark (writes) → send → read and cut (docs/api.md, "Hosted fetch"). Faults of a site, a package
 * or a deadline are values. It throws only on a bug, which the caller logs.
 * @param span span of the job, if it is traced
 * @param afterwards registers a function to call after the outcome is delivered; until then its text uses memory
 */
export async function runFetchJob(
    tools: FetchTools,
    job: FetchJob,
    signal: AbortSignal,
    { span = NO_SPAN, afterwards = (act) => act() }: { span?: Span; afterwards?: (act: () => void) => void } = {},
): Promise<FetchOutcome> {
    const startedAt = Date.now();
    if (startedAt >= job.deadlineAt || signal.aborted) return { ok: false, code: 'DEADLINE_EXCEEDED', startedAt, attempts: 0 };
    const found = await tools.loadEndpoint(job.versionId, job.endpoint);
    if (found === undefined) return { ok: false, code: 'ENDPOINT_NOT_FOUND', startedAt, attempts: 0 };
    const { endpoint, registrable } = found;
    const credential = await tools.credentialOf?.(job, endpoint);
    const pagesUntil = job.partial ? deadlineOfPages(job, startedAt) : job.deadlineAt;
    const call = openSiteCall(tools, { ...job, deadlineAt: pagesUntil }, { registrable, signal, span, credential });
    const turn = createReadingTurn(registrable, job.deadlineAt, job.account);
    const running: RunningCall = { call, job, endpoint, userAgent: tools.userAgent(), reader: tools.reader, turn };
    const failed = (failure: FetchFailure) => ({ attempts: call.figures().attempts, hosts: call.hosts(), ...failure, startedAt });
    try {
        const prepared = await prepareCall(running, parseExact<Values>(job.values));
        if (!prepared.ok) return failed(prepared);

        const collect = endpoint.pagination === undefined ? collectOne : collectPages;
        const collected = await collect({ ...running, ...prepared });
        if (!collected.ok) return failed(collected);
        // Parsing has decoded escapes that hid the credential from the first masking.
        if (credential !== undefined) collected.text = credential.maskText(collected.text);
        call.keepOutcome(Buffer.byteLength(collected.text));
        return {
            ...collected,
            mayKeep: call.heads().every((head) => mayKeep(endpoint, head)),
            upstream: figuresOf(call, collected),
            hosts: call.hosts(),
            startedAt,
        };
    } finally {
        afterwards(() => call.close());
    }
}

/** Milliseconds that a walk keeps for joining its pages, so that a late page does not use all of its time; at most a tenth of the time. */
const JOIN_MS = 500;

function deadlineOfPages({ deadlineAt }: FetchJob, startedAt: number): number {
    return deadlineAt - Math.min(JOIN_MS, (deadlineAt - startedAt) / 10);
}

/** The figures of a call. If its only page failed, the status is of that page. */
function figuresOf(call: SiteCall, { failedPage }: Collected): UpstreamFigures {
    const figures = call.figures();
    return figures.status === 0 ? { ...figures, status: failedPage?.upstream?.status ?? 0 } : figures;
}

/**
 * Whether an answer may be served again to the account that paid for it (docs/api.md, "Hosted fetch"). Excluded are answers of prepared
 * calls, answers that set cookies, and answers with `private` or `no-store`.
 */
function mayKeep({ prepare }: Pick<Endpoint, 'prepare'>, headers: IncomingHttpHeaders): boolean {
    if (prepare !== undefined || headers['set-cookie'] !== undefined) return false;
    // `private="field"` restricts one field. It is rare, so it counts for the whole answer.
    const directives = (headers['cache-control'] ?? '').split(',').map((directive) => directive.trim().split('=')[0]?.toLowerCase());
    return !directives.includes('private') && !directives.includes('no-store');
}
