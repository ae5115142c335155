import { FAILURES_TO_DRIFT, type Finding, type RunOutcome } from '../../domain/package/verification.ts';
import type { Db } from '../../platform/db.ts';
import { awaitCalls, payOwedContribution } from '../credits/credits.ts';

/** Verification runs: which are due, who runs them, and their results. Import it as a namespace: `verification.claimRun(…)`. */

/** A run that a worker has taken on. */
export interface VerificationRun {
    site: string;
    registrable: string;
    /** Of the site's runs, counted up. */
    run: number;
    versionId: number;
    version: number;
    /** Endpoints that did not pass in the run before, of whichever version. */
    missed: string[];
}

/** The verification state of a site. */
export interface VerificationState {
    /** Of the last run; 0 before there was any. */
    run: number;
    /** What the last run called. */
    versionId: number | null;
    beganAt: Date | null;
    /** null while it goes on, or where its worker died. */
    endedAt: Date | null;
    outcome: RunOutcome | null;
    findings: Finding[];
    /** Until its ten minutes are over, seconds; 0: they are. */
    ownWaitS: number;
    /** Until the next run of any site of the domain may begin, seconds; 0: now. */
    domainWaitS: number;
}

/** Between the beginnings of two runs of one registrable domain (docs/api.md, "Registry"). */
export const RUN_EVERY_MS = 600_000;
const EVERY = `interval '${RUN_EVERY_MS} milliseconds'`;

/**
 * Another version may have become the latest: a run of it is due at once, where it was published by a contributor; one of the
 * starter registry is never called by itself. The caller holds the lock of the registrable domain.
 */
export async function scheduleRun(db: Db, site: string): Promise<void> {
    await db.raw(
        `insert into verifications as known (site, due_at)
         select s.site, case when v.origin = 'published' then app_now() end
         from sites s left join versions v on v.id = s.latest_version_id where s.site = :site
         on conflict (site) do update set due_at = excluded.due_at, attempts = 0
         where known.version_id is distinct from (select latest_version_id from sites where site = :site)`,
        { site },
    );
}

/** Makes a run due at once; an operator requests it. */
export async function requestRun(db: Db, site: string): Promise<void> {
    await db.raw(
        `insert into verifications (site, due_at) values (?, app_now())
         on conflict (site) do update set due_at = app_now(), attempts = 0`,
        [site],
    );
}

/**
 * Takes a run that is due: of a site that is not blocked, and whose registrable domain had none for ten minutes. Accounts take turns:
 * first comes what was published by the one with the fewest runs that go on, and of that what has been due for longest, so that nobody
 * waits for the many sites of another account, which answer as slowly as they like.
 * Until it ends, the next try is due after these ten minutes, then after twice as long and so on up to a day: so a run whose worker
 * died is made again, and nobody makes it twice. Undefined where none is due.
 */
export async function claimRun(db: Db): Promise<VerificationRun | undefined> {
    const { rows } = await db.raw<{ rows: RunColumns[] }>(
        `with busy as materialized (
             select v.published_by_account as account, count(*) as runs
             from verifications n join versions v on v.id = n.version_id
             where n.ended_at is null and n.run > 0 and n.began_at > app_now() - ${EVERY}
             group by v.published_by_account
         ), due as materialized (
             select n.site, d.registrable, n.findings
             from verifications n
             join sites s on s.site = n.site
             join versions v on v.id = s.latest_version_id
             join domains d on d.registrable = s.registrable
             left join busy b on b.account = v.published_by_account
             where n.due_at <= app_now() and not d.is_blocked
                   and (d.verification_began_at is null or d.verification_began_at <= app_now() - ${EVERY})
             order by coalesce(b.runs, 0), n.due_at limit 1
             for update of n, d skip locked
         ), turn as (
             update domains d set verification_began_at = app_now() from due where d.registrable = due.registrable
         )
         update verifications n
         set run = n.run + 1, attempts = n.attempts + 1, version_id = v.id,
             began_at = app_now(), ended_at = null, outcome = null, findings = null,
             due_at = case when v.origin = 'published'
                 then app_now() + least(interval '1 day', ${EVERY} * power(2, least(n.attempts, 10))) end
         from due join sites s on s.site = due.site join versions v on v.id = s.latest_version_id
         where n.site = due.site
         returning n.site, due.registrable, n.run, v.id as version_id, v.version, due.findings`,
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    const { site, registrable, run, version_id: versionId, version, findings } = row;
    const missed = (findings ?? []).filter(({ verdict }) => verdict !== 'passed').map(({ name }) => name);
    return { site, registrable, run, versionId, version, missed };
}

export interface EndedRun {
    /** False where the run was replaced meanwhile: then nothing was written. */
    isRecorded: boolean;
    /** This very run took `verified` away. */
    hasDrifted: boolean;
}

/**
 * Writes down what a run found. All passed: verified as of now; three failures in a row: not verified any more; anything else leaves
 * that as it is. The next run is due a day after this one began, and none for a version of the starter registry, or without examples.
 */
export async function endRun(
    db: Db,
    { site, registrable, run }: VerificationRun,
    outcome: RunOutcome,
    findings: readonly Finding[],
): Promise<EndedRun> {
    return db.transaction(async (trx) => {
        // In the order in which a publish locks.
        await trx.raw('select from domains where registrable = ? for update', [registrable]);
        const { rows } = await trx.raw<{ rows: { version_id: number }[] }>(
            `update verifications n
             set ended_at = app_now(), outcome = :outcome, findings = :findings,
                 attempts = case when :outcome = 'undecided' then n.attempts else 0 end,
                 due_at = case
                     when v.id is distinct from s.latest_version_id or :outcome = 'undecided' then n.due_at
                     when v.origin = 'published' and :outcome <> 'nothing' then n.began_at + interval '1 day'
                 end
             from sites s, versions v
             where n.site = :site and n.run = :run and n.ended_at is null and s.site = n.site and v.id = n.version_id
             returning n.version_id`,
            { site, run, outcome, findings: JSON.stringify(findings) },
        );
        const versionId = rows[0]?.version_id;
        if (versionId === undefined) return { isRecorded: false, hasDrifted: false };
        // No site was called: the domain's turn is free again.
        if (outcome === 'nothing') await trx.raw('update domains set verification_began_at = null where registrable = ?', [registrable]);
        await keepPassed(trx, versionId, findings);
        if (outcome === 'passed') await markVerified(trx, versionId);
        const hasDrifted = outcome === 'failed' && (await countFailure(trx, versionId));
        if (outcome === 'passed') await payOwedContribution(trx, registrable);
        else if (outcome !== 'undecided') await awaitCalls(trx, registrable, { site, isVerifiable: outcome === 'failed' });
        return { isRecorded: true, hasDrifted };
    });
}

/** Endpoints stay passed until the version is not verified any more: a large package is called in parts. */
async function keepPassed(db: Db, versionId: number, findings: readonly Finding[]): Promise<void> {
    const passed = findings.filter(({ verdict }) => verdict === 'passed').map(({ name }) => name);
    await db.raw(
        `update versions v set passed_endpoints = array(select distinct name from unnest(v.passed_endpoints || :passed::text[]) name)
         where v.id = :versionId and not v.passed_endpoints @> :passed::text[]`,
        { versionId, passed },
    );
}

async function markVerified(db: Db, versionId: number): Promise<void> {
    await db.raw('update versions set verified_at = app_now(), verification_failures = 0, drifted_at = null where id = ?', [versionId]);
    await showOnSite(db, versionId);
}

/** Resolves with whether this failure took `verified` away. */
async function countFailure(db: Db, versionId: number): Promise<boolean> {
    await db.raw('update versions set verification_failures = verification_failures + 1 where id = ?', [versionId]);
    const { rows } = await db.raw<{ rows: unknown[] }>(
        `update versions set verified_at = null, passed_endpoints = '{}', drifted_at = app_now()
         where id = ? and verified_at is not null and verification_failures >= ? returning id`,
        [versionId, FAILURES_TO_DRIFT],
    );
    if (rows.length === 0) return false;
    await showOnSite(db, versionId);
    return true;
}

/** `sites` repeats the verification state of its latest version. */
async function showOnSite(db: Db, versionId: number): Promise<void> {
    await db.raw(
        'update sites s set verified_at = v.verified_at from versions v where v.id = ? and s.site = v.site and s.latest_version_id = v.id',
        [versionId],
    );
}

/** The verification state of a site. */
export async function readState(db: Db, site: string): Promise<VerificationState> {
    const wait = (began: string) => `greatest(0, ceil(extract(epoch from ${began} + ${EVERY} - app_now())))::integer`;
    const { rows } = await db.raw<{ rows: StateColumns[] }>(
        `select coalesce(n.run, 0) as run, n.version_id, n.began_at, n.ended_at, n.outcome, n.findings,
                coalesce(${wait('n.began_at')}, 0) as own_wait, coalesce(${wait('d.verification_began_at')}, 0) as domain_wait
         from sites s join domains d on d.registrable = s.registrable left join verifications n on n.site = s.site
         where s.site = ?`,
        [site],
    );
    return toState(rows[0]);
}

/** What runs found so far of one version. */
export interface VersionState {
    version: number;
    verifiedAt: Date | null;
    /** Since when it is no longer verified. */
    driftedAt: Date | null;
    /** Failed runs in a row, up to the last one. */
    failures: number;
}

/** Undefined where there is no such version. */
export async function readVersion(db: Db, versionId: number): Promise<VersionState | undefined> {
    const { rows } = await db.raw<{ rows: VersionColumns[] }>(
        'select version, verified_at, drifted_at, verification_failures from versions where id = ?',
        [versionId],
    );
    const row = rows[0];
    return (
        row && {
            version: row.version,
            verifiedAt: row.verified_at,
            driftedAt: row.drifted_at,
            failures: row.verification_failures,
        }
    );
}

/** Sites whose latest version lost `verified` since the site no longer answers as it says. */
export async function countDrifted(db: Db): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ drifted: number }] }>(
        `select count(*)::integer as drifted from versions v join sites s on s.latest_version_id = v.id where v.drifted_at is not null`,
    );
    return rows[0].drifted;
}

interface RunColumns {
    site: string;
    registrable: string;
    run: number;
    version_id: number;
    version: number;
    /** Of the run before; null where there was none, or where it never ended. */
    findings: Finding[] | null;
}

interface VersionColumns {
    version: number;
    verified_at: Date | null;
    drifted_at: Date | null;
    verification_failures: number;
}

interface StateColumns {
    run: number;
    version_id: number | null;
    began_at: Date | null;
    ended_at: Date | null;
    outcome: RunOutcome | null;
    findings: Finding[] | null;
    own_wait: number;
    domain_wait: number;
}

function toState(row: StateColumns | undefined): VerificationState {
    return {
        run: row?.run ?? 0,
        versionId: row?.version_id ?? null,
        beganAt: row?.began_at ?? null,
        endedAt: row?.ended_at ?? null,
        outcome: row?.outcome ?? null,
        findings: row?.findings ?? [],
        ownWaitS: row?.own_wait ?? 0,
        domainWaitS: row?.domain_wait ?? 0,
    };
}
