import { setTimeout as sleep } from 'node:timers/promises';
import type { Finding } from '../../shared/domain/package/verification.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import type { VersionRef } from '../../shared/store/registry/history.ts';
import { findLatest } from '../../shared/store/registry/site-states.ts';
import * as verification from '../../shared/store/registry/verification.ts';
import { type Done, fields, table } from './command.ts';
import { AdminFault, audited, type Operator } from './operator.ts';
import type { SiteName } from './sites.ts';

/** Workers look for runs once a second. If none takes the run within this time, no worker is running. */
const TAKEN_MS = 10_000;
const LOOK_AGAIN_MS = 100;

/**
 * `schema verify`: a worker calls the examples of a site's latest version, and the command prints the findings. A domain is verified at
 * most once in ten minutes, also by operators. If this version was verified within that time, its earlier findings are printed again.
 */
export async function verify(operator: Operator, name: SiteName): Promise<Done> {
    const { db } = operator;
    const version = await latestOrFault(db, name);
    const before = await verification.readState(db, name.site);
    if (before.ownWaitS > 0 && before.versionId === version.versionId) {
        const note = `${name.site} was called within the last ten minutes: these are the findings of that run, the next one may begin in ${before.ownWaitS} s`;
        return { ...(await present(db, name.site, await waitForRun(db, name, before.run))), note };
    }
    if (before.domainWaitS > 0) {
        const message = `${name.registrable} was called within the last ten minutes; try again in ${before.domainWaitS} s.`;
        throw new AdminFault('RATE_LIMITED', message);
    }
    await request(operator, name.site, version);
    return present(db, name.site, await waitForRun(db, name, before.run + 1));
}

async function latestOrFault(db: Db, name: SiteName): Promise<VersionRef> {
    const { isBlocked, version } = await findLatest(db, name);
    if (isBlocked) throw new AdminFault('SITE_BLOCKED', `${name.registrable} is blocked, so its sites are not called.`);
    if (version === undefined) throw new AdminFault('SITE_NOT_FOUND', `No schema is published for ${name.site}.`);
    return version;
}

async function request(operator: Operator, site: string, { version, verifiedAt }: VersionRef): Promise<void> {
    await audited(operator, async (trx) => {
        await verification.requestRun(trx, site);
        return { target: `${site} ${version}`, before: { verified: verifiedAt !== null }, after: { requested: true }, result: undefined };
    });
}

/** Waits for the end of this run or a later one. */
async function waitForRun(db: Db, name: SiteName, run: number): Promise<verification.VerificationState> {
    const giveUpAt = performance.now() + TAKEN_MS;
    for (;;) {
        const state = await verification.readState(db, name.site);
        const isTaken = state.run >= run;
        if (isTaken && state.endedAt !== null) return state;
        if (isTaken && state.ownWaitS === 0)
            throw new AdminFault('SERVICE_UNAVAILABLE', 'A worker took the run and did not finish it. Is that worker still running?');
        if (!isTaken && performance.now() > giveUpAt) throw await explainNotStarted(db, name, state);
        await sleep(LOOK_AGAIN_MS);
    }
}

/** Explains why the run did not start: meanwhile the domain may have been blocked, or another of its sites may have been verified. */
async function explainNotStarted(db: Db, name: SiteName, { domainWaitS }: verification.VerificationState): Promise<AdminFault> {
    await latestOrFault(db, name);
    return domainWaitS > 0
        ? new AdminFault('RATE_LIMITED', `Another site of the domain was called just now; the run may begin in ${domainWaitS} s.`)
        : new AdminFault('SERVICE_UNAVAILABLE', 'No worker took the run. Is one running? The run stays queued.');
}

async function present(db: Db, site: string, state: verification.VerificationState): Promise<Done> {
    const { versionId, beganAt, endedAt, outcome, findings } = state;
    const called = await verification.readVersion(db, versionId ?? 0);
    const summary = {
        site,
        version: called?.version ?? null,
        outcome,
        verified: called?.verifiedAt != null,
        verified_at: called?.verifiedAt?.toISOString() ?? null,
        drift: called?.driftedAt != null,
        failures_in_a_row: called?.failures ?? 0,
        began_at: beganAt?.toISOString() ?? null,
        ended_at: endedAt?.toISOString() ?? null,
    };
    const lines = [
        ...fields(summary),
        '',
        ...table(
            ['endpoint', 'verdict', 'code', 'status', 'ms'],
            findings.map(({ name, verdict, code, status, durationMs }) => [name, verdict, code, status, durationMs]),
        ),
    ];
    return { result: { ...summary, endpoints: findings.map(presentFinding) }, lines };
}

function presentFinding({ name, verdict, code, message, status, durationMs }: Finding): JsonObject {
    return { name, passed: verdict === 'passed', verdict, code, message, status, duration_ms: durationMs };
}
