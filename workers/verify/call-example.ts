import type { App } from '../../shared/app.ts';
import { bindParams } from '../../shared/domain/bind-params.ts';
import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch.ts';
import { newId } from '../../shared/domain/ids.ts';
import { openParamJudge } from '../../shared/domain/judge-params.ts';
import { secondsUntilOpen } from '../../shared/domain/site-policy.ts';
import type { Endpoint, JsonObject, Values } from '../../shared/domain/types.ts';
import { type Finding, verdictOf } from '../../shared/domain/verification.ts';
import type { SiteStanding } from '../../shared/limits.ts';
import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import { findLatest, type Standing } from '../../shared/store/schemas.ts';
import type { VerificationRun } from '../../shared/store/verification.ts';
import { pause } from './pause.ts';

/** Behind every caller's job, whenever that comes. */
const BULK_PRIORITY = 100;
/** Leases outlive the deadline by so much, where nobody is left to end them. */
const LEASE_GRACE_MS = 5000;
/** A share that is full of callers is asked for again after so long. */
const BUSY_MS = 1000;
/** A domain has one run at a time, and a run one call. */
const UNBOUNDED = 1_000_000;

export interface ExampleCall {
    run: VerificationRun;
    endpoint: Endpoint;
    params: JsonObject;
    /** For the whole call, milliseconds. */
    patienceMs: number;
    signal: AbortSignal;
}

/**
 * One hosted fetch of an example, through the site guard, that nobody pays for: block, share, quarantine, circuit, pace and egress
 * guard hold for it as for a caller's, and it leaves no trace in credits, usage, trending, health or circuits. It never is the probe of
 * a circuit, which callers would have to wait for.
 */
export async function callExample(app: App, call: ExampleCall): Promise<Finding> {
    const began = performance.now();
    const { name } = call.endpoint;
    const bound = bindParams(call.endpoint, call.params, openParamJudge());
    const outcome = bound.ok ? await callGuarded(app, call, bound.values) : refused('INVALID_PARAMS', bound.problems[0]?.message);
    const verdict = isQuarantined(outcome) ? 'failed' : verdictOf(outcome);
    const durationMs = Math.round(performance.now() - began);
    if (outcome.ok) return { name, verdict, code: null, message: null, status: outcome.upstream.status, durationMs };
    const { code, message = null, upstream } = outcome;
    return { name, verdict, code, message, status: upstream?.status ?? null, durationMs };
}

/** Asks for a place as long as callers fill the site's share; whatever else is in the way ends the call. */
async function callGuarded(app: App, call: ExampleCall, values: Values): Promise<FetchOutcome> {
    const { run, endpoint, patienceMs, signal } = call;
    const { site, registrable, versionId } = run;
    const admittedAt = Date.now();
    const deadlineAt = admittedAt + patienceMs;
    const operation = newId('op');
    for (;;) {
        const standing = await findLatest(app.db, { site, registrable });
        if (standing.isBlocked) return refused('SITE_BLOCKED');
        // That its author says it reads proves nothing, and calling it would be the proof.
        const isPlainRead = endpoint.method === 'GET' || endpoint.method === 'HEAD';
        if (standing.policy?.writes === false && !isPlainRead) return refused('SITE_BLOCKED');
        const hours = standing.policy?.hours ?? null;
        if (hours !== null && secondsUntilOpen(hours, app.clock.now()) > 0) return refused('SITE_UNAVAILABLE');
        if (standing.version?.versionId !== versionId) return refused('VERSION_NOT_FOUND', 'Another version is the latest by now.');
        const lease = {
            operation,
            account: `verification:${registrable}`,
            concurrency: UNBOUNDED,
            site: registrable,
            target: { versionId, endpoint: endpoint.name },
            expiresAt: deadlineAt + LEASE_GRACE_MS,
            ...(standing.siteConcurrency === null ? {} : { share: standing.siteConcurrency }),
        };
        try {
            const verdict = await app.limits.take({ identity: lease.account, windows: [], lease });
            if (verdict.ok) {
                const closed = whyClosed(verdict.standing);
                if (closed !== undefined) return closed;
                return await runJob(app, jobOf(call, { values, operation, admittedAt, deadlineAt, standing }), signal);
            }
        } catch (error) {
            if (error instanceof Refusal) return refused(error.code, error.message);
            throw error;
        } finally {
            await app.limits.end(lease);
        }
        if (Date.now() + BUSY_MS >= deadlineAt || signal.aborted) return refused('SITE_BUSY');
        await pause(BUSY_MS, signal);
    }
}

function whyClosed({ quarantineMs, circuitMs }: SiteStanding): FetchOutcome | undefined {
    if (quarantineMs > 0) return QUARANTINED;
    return circuitMs === undefined ? undefined : refused('SITE_UNAVAILABLE');
}

const QUARANTINED = refused('SITE_UNAVAILABLE', 'Calls of this endpoint ended two workers; it is quarantined.');

/** That is the endpoint's own doing, and not a site that is down for a while. */
function isQuarantined(outcome: FetchOutcome): boolean {
    return outcome === QUARANTINED;
}

/** One page is enough to hold an answer against its schema. */
function jobOf(
    { run, endpoint }: ExampleCall,
    at: { values: Values; operation: string; admittedAt: number; deadlineAt: number; standing: Standing },
): FetchJob {
    const { values, operation, admittedAt, deadlineAt, standing } = at;
    return {
        operation,
        requestId: newId('req'),
        site: run.site,
        versionId: run.versionId,
        endpoint: endpoint.name,
        effect: 'read',
        values: { ...values },
        deadlineAt,
        admittedAt,
        maxResults: endpoint.billing.maxResults,
        maxPages: 1,
        pace: standing.siteRate === null ? {} : { rate: standing.siteRate },
        ...(standing.policy === null ? {} : { blockedPaths: standing.policy.blocked_paths }),
        run: 1,
    };
}

/** Where the worker died that took it, it runs once more, as a caller's read does. */
async function runJob({ queue }: App, job: FetchJob, signal: AbortSignal): Promise<FetchOutcome> {
    const outcome = await queue.run(job, { signal, priority: BULK_PRIORITY });
    const mayRunAgain = !outcome.ok && outcome.lost === 'worker' && Date.now() < job.deadlineAt;
    return mayRunAgain ? queue.run({ ...job, run: 2 }, { signal, priority: BULK_PRIORITY }) : outcome;
}

function refused(code: RefusalCode, message?: string): FetchOutcome & { ok: false } {
    return { ok: false, code, ...(message === undefined ? {} : { message }) };
}
