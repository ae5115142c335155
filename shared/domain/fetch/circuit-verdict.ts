import type { FetchOutcome } from './fetch-job.ts';

/** A timeout counts against a site only if the call had at least this much time (docs/api.md, "Circuits"). */
const PATIENCE_MS = 10_000;

/** Codes that prove that the site answered, regardless of the content. */
const ANSWERED = new Set([
    'UPSTREAM_BLOCKED',
    'UPSTREAM_INVALID_RESPONSE',
    'UPSTREAM_TOO_LARGE',
    'UPSTREAM_REDIRECT',
    'UPSTREAM_RATE_LIMITED',
]);

export type CircuitVerdict = 'passed' | 'failed' | 'none';

/** The verdicts about the hosts of an ended fetch, in order. Hosts before the last passed, or the call would have ended there. */
export function hostVerdicts(outcome: FetchOutcome, times: { admittedAt: number; deadlineAt: number }): Map<string, CircuitVerdict> {
    const hosts = outcome.hosts ?? [];
    const verdict = circuitVerdict(outcome, times);
    return new Map(hosts.map((host, index) => [host, index === hosts.length - 1 ? verdict : 'passed']));
}

/**
 * The verdict about the host where a fetch ended. Failed: connection error, 5xx or timeout. Passed: any other answer of the host. None: no
 * request reached it. A call that spent most of its time waiting for a worker has no verdict, because our own overload would otherwise open
 * circuits.
 */
export function circuitVerdict(
    outcome: FetchOutcome,
    { admittedAt, deadlineAt }: { admittedAt: number; deadlineAt: number },
): CircuitVerdict {
    if (outcome.ok) {
        if (outcome.failedPage === undefined) return 'passed';
        return circuitVerdict({ ok: false, ...outcome.failedPage, startedAt: outcome.startedAt }, { admittedAt, deadlineAt });
    }
    if (outcome.isCallers === true) return 'none';
    if (outcome.code === 'UPSTREAM_STATUS') return isServerError(outcome.upstream?.status) ? 'failed' : 'passed';
    if (outcome.code === 'UPSTREAM_UNREACHABLE') return 'failed';
    if (outcome.code === 'UPSTREAM_TIMEOUT') {
        const patience = deadlineAt - admittedAt;
        const isSiteToBlame = deadlineAt - (outcome.startedAt ?? deadlineAt) >= patience / 2;
        return patience >= PATIENCE_MS && isSiteToBlame ? 'failed' : 'none';
    }
    return ANSWERED.has(outcome.code) ? 'passed' : 'none';
}

/** Whether a site answered with an error of its server. Some sites have statuses above 599, such as 999 for programs that they refuse. */
export function isServerError(status: number | undefined): boolean {
    return status !== undefined && status >= 500 && status < 600;
}
