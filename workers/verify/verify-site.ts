import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import { callsOf, type Finding, outcomeOf, type RunOutcome } from '../../shared/domain/package/verification.ts';
import * as verification from '../../shared/store/registry/verification.ts';
import { callExample } from './call-example.ts';

/** A run ends a minute before the next one of its domain may begin. */
const RUN_MS = verification.RUN_EVERY_MS - 60_000;
/** Minimum time for a call. */
const LEAST_PATIENCE_MS = 1000;

/**
 * Makes a claimed run: one call after the other, `paceMs` between them, and stores the findings. When it is aborted it stores nothing,
 * and the run is repeated later.
 */
export async function verifySite(
    app: App,
    run: verification.VerificationRun,
    { paceMs, signal }: { paceMs: number; signal: AbortSignal },
): Promise<void> {
    const began = performance.now();
    const version = await app.versions.load(run.versionId);
    const calls = callsOf(version?.endpoints.values() ?? [], run);
    const findings: Finding[] = [];
    for (const { endpoint, params } of calls) {
        const patienceMs = Math.min(app.config.fetchTimeoutMs, began + RUN_MS - performance.now());
        if (patienceMs < LEAST_PATIENCE_MS) break;
        const finding = await callExample(app, { run, endpoint, params, patienceMs, signal });
        if (signal.aborted) return;
        findings.push(finding);
        // The obstacle applies to the other calls too.
        if (finding.verdict === 'unknown') break;
        if (findings.length < calls.length) await pause(paceMs, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
    }
    const outcome = outcomeOf(findings, calls.length);
    const ended = await verification.endRun(app.db, run, outcome, findings);
    if (ended.isRecorded) report(app, run, { outcome, findings, hasDrifted: ended.hasDrifted, durationMs: performance.now() - began });
}

function report(
    { log, metrics }: App,
    { site, version }: verification.VerificationRun,
    found: { outcome: RunOutcome; findings: readonly Finding[]; hasDrifted: boolean; durationMs: number },
): void {
    const { outcome, findings, hasDrifted, durationMs } = found;
    const missed = findings.filter(({ verdict }) => verdict !== 'passed').map(({ name, code }) => `${name} ${code}`);
    const fields = { part: 'verification', site, version, outcome, calls: findings.length, missed, duration_ms: Math.round(durationMs) };
    metrics.verificationRuns.inc({ outcome });
    log.info(fields, 'a verification run ended');
    if (hasDrifted) log.warn(fields, 'a schema drifted: three verification runs in a row failed, so that it is no longer verified');
}
