import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import type { GuardState } from '../../shared/coordination/circuits/guard-states.ts';
import { bindParams } from '../../shared/domain/fetch/bind-params.ts';
import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { createParamValidator } from '../../shared/domain/fetch/validate-params.ts';
import { isSafeMethod } from '../../shared/domain/package/endpoint.ts';
import { exampleOutcome } from '../../shared/domain/package/example-outcome.ts';
import { hostsOfEndpoint } from '../../shared/domain/package/hosts.ts';
import { type Finding, verdictOf } from '../../shared/domain/package/verification.ts';
import { secondsUntilAllOpen } from '../../shared/domain/site/site-policy.ts';
import { newId, newTimedId } from '../../shared/domain/text/ids.ts';
import type { Endpoint, JsonObject, Values } from '../../shared/domain/types.ts';
import { recordUse } from '../../shared/fetch/connection-use.ts';
import { LEASE_GRACE_MS } from '../../shared/fetch/deadlines.ts';
import { paceOfDomain, runJob } from '../../shared/fetch/run-job.ts';
import { NO_SPAN } from '../../shared/platform/tracing.ts';
import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import type { Connection } from '../../shared/store/connections/connections.ts';
import { findLatest, type SiteState } from '../../shared/store/registry/site-states.ts';
import type { VerificationRun } from '../../shared/store/registry/verification.ts';

/** Runs behind all jobs of callers. */
const BULK_PRIORITY = 100;
/** Pause before a retry when callers fill the site's share. */
const BUSY_MS = 1000;
/** No limit is needed: a domain has one run at a time, and a run has one call at a time. */
const UNBOUNDED = 1_000_000;

interface ExampleCall {
    run: VerificationRun;
    endpoint: Endpoint;
    params: JsonObject;
    /** The connection that a maintainer lent, for an endpoint that needs one. */
    connection?: Connection | undefined;
    /** Time for the whole call. */
    patienceMs: number;
    signal: AbortSignal;
}

/**
 * Makes one free hosted fetch of an example. Blocks, shares, quarantines, circuits, pace and the egress guard apply as for callers. It does
 * not count towards credits, usage, trending, health or circuits. It is never a circuit's probe, because callers would wait for it.
 */
export async function callExample(app: App, call: ExampleCall): Promise<Finding> {
    const began = performance.now();
    const { name } = call.endpoint;
    const bound = bindParams(call.endpoint, call.params, createParamValidator());
    const called = bound.ok ? await callGuarded(app, call, bound.values) : toRefused('INVALID_PARAMS', bound.problems[0]?.message);
    const outcome = exampleOutcome(call.endpoint, called);
    // A quarantine counts as the endpoint's failure, unlike a site that is down.
    const verdict = outcome === QUARANTINED ? 'failed' : verdictOf(outcome);
    const durationMs = Math.round(performance.now() - began);
    if (outcome.ok) return { name, verdict, code: null, message: null, status: outcome.upstream.status, durationMs };
    const { code, message = null, upstream } = outcome;
    return { name, verdict, code, message, status: upstream?.status ?? null, durationMs };
}

/** Retries while callers fill the site's share. Any other obstacle ends the call. */
async function callGuarded(app: App, call: ExampleCall, values: Values): Promise<FetchOutcome> {
    const { run, endpoint, patienceMs, signal } = call;
    const { site, registrable, versionId } = run;
    const admittedAt = Date.now();
    const deadlineAt = admittedAt + patienceMs;
    const operation = newTimedId('op', admittedAt);
    for (;;) {
        const siteState = await findLatest(app.db, { site, registrable });
        const refused = refusedBy(siteState, call, app.clock.now());
        if (refused !== undefined) return refused;
        const lease = {
            operation,
            account: `verification:${registrable}`,
            concurrency: UNBOUNDED,
            site: registrable,
            expiresAt: deadlineAt + LEASE_GRACE_MS,
            share: siteState.siteConcurrency ?? undefined,
        };
        try {
            const verdict = await app.limits.take({ identity: lease.account, windows: [], lease });
            if (verdict.ok) {
                const closed = whyClosed(await app.circuits.look(hostsOfEndpoint(endpoint), { versionId, endpoint: endpoint.name }));
                if (closed !== undefined) return closed;
                const job = jobOf(call, { values, operation, admittedAt, deadlineAt, siteState });
                const outcome = await runJob(app, job, { span: NO_SPAN, gone: signal, priority: BULK_PRIORITY });
                if (call.connection !== undefined) await noteLent(app, call.connection, job, outcome);
                return outcome;
            }
        } catch (error) {
            if (error instanceof Refusal) return toRefused(error.code, error.message);
            throw error;
        } finally {
            await app.limits.end(lease);
        }
        if (Date.now() + BUSY_MS >= deadlineAt || signal.aborted) return toRefused('SITE_BUSY');
        await pause(BUSY_MS, undefined, { signal }).catch(() => undefined);
    }
}

/** Why the site may not be called now. */
function refusedBy({ isBlocked, policy, version }: SiteState, { run, endpoint }: ExampleCall, now: number): FetchOutcome | undefined {
    // The schema's effect is not proven, and a call could turn out to be a write.
    if (isBlocked || (policy?.writes === false && !isSafeMethod(endpoint.method))) return toRefused('SITE_BLOCKED');
    if (secondsUntilAllOpen(policy?.hours ?? [], now) > 0) return toRefused('SITE_UNAVAILABLE');
    if (version?.versionId !== run.versionId) return toRefused('VERSION_NOT_FOUND', 'Another version is the latest by now.');
    return undefined;
}

/** Records the use of the lent connection in the audit log of its workspace. A 401 counts as for any other call. */
async function noteLent(app: App, { workspaceId, ownerId }: Connection, job: FetchJob, outcome: FetchOutcome): Promise<void> {
    const caller = { workspaceId, keyId: 'system', userId: ownerId ?? '' };
    await recordUse(app, { caller, times: { admittedAt: job.admittedAt } }, job, outcome);
}

function whyClosed({ quarantineMs, openMs, halfOpen }: GuardState): FetchOutcome | undefined {
    if (quarantineMs > 0) return QUARANTINED;
    return openMs > 0 || halfOpen.length > 0 ? toRefused('SITE_UNAVAILABLE') : undefined;
}

const QUARANTINED = toRefused('SITE_UNAVAILABLE', 'Calls of this endpoint ended two workers; it is quarantined.');

/** Builds the job. One page is enough to validate an answer. */
function jobOf(
    { run, endpoint, connection }: ExampleCall,
    at: { values: Values; operation: string; admittedAt: number; deadlineAt: number; siteState: SiteState },
): FetchJob {
    const { values, operation, admittedAt, deadlineAt, siteState } = at;
    return {
        operation,
        requestId: newId('req'),
        site: run.site,
        versionId: run.versionId,
        endpoint: endpoint.name,
        effect: 'read',
        values: JSON.stringify(values),
        deadlineAt,
        admittedAt,
        maxResults: endpoint.billing.maxResults,
        maxPages: 1,
        pace: paceOfDomain(siteState),
        blockedPaths: siteState.policy?.blocked_paths,
        run: 1,
        connection: connection?.connectionId,
        connectionRevision: connection?.revision,
    };
}

function toRefused(code: RefusalCode, message?: string): FetchOutcome & { ok: false } {
    return { ok: false, code, message };
}
