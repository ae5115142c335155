import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import { type AuthOffer, changesOfTerms, needOf, termsOf } from '../../shared/domain/package/auth.ts';
import { isSafeMethod } from '../../shared/domain/package/endpoint.ts';
import {
    callsOf,
    type ExampleToCall,
    type Finding,
    outcomeOf,
    pacedMs,
    type RunOutcome,
    type VersionToVerify,
} from '../../shared/domain/package/verification.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import type { Connection } from '../../shared/store/connections/connections.ts';
import { lentConnections } from '../../shared/store/connections/lent.ts';
import { findLatest, type SiteState } from '../../shared/store/registry/site-states.ts';
import * as verification from '../../shared/store/registry/verification.ts';
import { callExample } from './call-example.ts';

/** A run ends a minute before the next one of its domain may begin. */
const RUN_MS = verification.RUN_EVERY_MS - 60_000;
/** Minimum time for a call. */
const MIN_PATIENCE_MS = 1000;

/**
 * Executes a claimed run: makes one call after the other, with pauses of `paceMs` or of the site's own pace if that is longer, and stores
 * the findings. An aborted run stores nothing and is repeated later.
 */
export async function verifySite(
    app: App,
    run: verification.VerificationRun,
    { paceMs, signal }: { paceMs: number; signal: AbortSignal },
): Promise<void> {
    const began = performance.now();
    const version = await app.versions.load(run.versionId);
    const { paces, takesCookies } = await findLatest(app.db, { site: run.site, registrable: run.registrable });
    const offer = { auth: version?.auth ?? [], hosts: version?.hosts ?? [] };
    const lent = offer.auth.length === 0 ? [] : await lentConnections(app.db, { ...run, takesCookies });
    const lentFor = (endpoint: Endpoint) => {
        // A schema may falsely declare a POST as a read, so it is never tested with a lent credential.
        if (!isSafeMethod(endpoint.method) || needOf(endpoint, offer.auth) !== 'required') return undefined;
        return lent.find((one) => fitsTerms(one, offer, endpoint));
    };
    const isLent = (endpoint: Endpoint) => lentFor(endpoint) !== undefined;
    const calls = callsInTime({ inOrder: version?.inOrder ?? [], auth: offer.auth, isLent }, run, {
        paces,
        paceMs,
        lastMs: app.config.fetchTimeoutMs,
    });
    const findings: Finding[] = [];
    for (const [place, { endpoint, params }] of calls.entries()) {
        const connection = lentFor(endpoint);
        const patienceMs = Math.min(app.config.fetchTimeoutMs + pacedMs(endpoint, paces), began + RUN_MS - performance.now());
        if (patienceMs < MIN_PATIENCE_MS) break;
        const finding = await callExample(app, { run, endpoint, params, connection, patienceMs, signal });
        if (signal.aborted) return;
        findings.push(finding);
        // The obstacle applies to the other calls too, unless it is the credential.
        if (finding.verdict === 'unknown' && connection === undefined) break;
        const next = calls[place + 1];
        const pauseMs = next === undefined ? 0 : Math.max(paceMs, pacedMs(next.endpoint, paces));
        if (next !== undefined) await pause(pauseMs, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
    }
    const outcome = outcomeOf(findings, calls.length);
    const ended = await verification.endRun(app.db, run, outcome, findings);
    if (ended.isRecorded) report(app, run, { outcome, findings, hasDrifted: ended.hasDrifted, durationMs: performance.now() - began });
}

/** Whether calling an endpoint with a connection fits the terms that its owner accepted. */
function fitsTerms({ authId, entry, hosts, scopes }: Connection, offer: AuthOffer, endpoint: Endpoint): boolean {
    const missing = entry.type === 'oauth2' && scopes.length > 0 ? endpoint.scopes.filter((scope) => !scopes.includes(scope)) : [];
    return missing.length === 0 && changesOfTerms({ entry, hosts }, termsOf(offer, authId), endpoint).length === 0;
}

/** As many calls as a run has time for at the pace of the site, and at least one. @param pace.lastMs time for the last call */
function callsInTime(
    version: VersionToVerify,
    run: verification.VerificationRun,
    { paces, paceMs, lastMs }: { paces: SiteState['paces']; paceMs: number; lastMs: number },
): ExampleToCall[] {
    const calls = callsOf(version, run);
    const slowestMs = Math.max(paceMs, ...calls.map(({ endpoint }) => pacedMs(endpoint, paces)));
    const maxCalls = Math.max(1, Math.floor((RUN_MS - lastMs) / slowestMs));
    return maxCalls >= calls.length ? calls : callsOf(version, run, maxCalls);
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
