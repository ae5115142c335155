import { FAILURES_TO_DRIFT, type Finding, type RunOutcome } from '../../domain/package/verification.ts';
import { type Columns, columns, countRows, type Db, now } from '../../platform/db.ts';
import { awaitCalls, payOwedContribution } from '../credits/bonuses.ts';
import { recordEvent } from '../events/events.ts';
import { noteVerified } from './endpoint-index.ts';

/** Verification runs: which are due, who runs them, and their results. Import it as a namespace: `verification.claimRun(…)`. */

export interface VerificationRun {
    site: string;
    registrable: string;
    /** The number of the run. Each site counts its runs from 1. */
    run: number;
    versionId: number;
    version: number;
    /** Endpoints that did not pass in the previous run, of any version. */
    missed: string[];
}

export interface VerificationState {
    /** The number of the last run; 0 if there was none. */
    run: number;
    versionId: number | null;
    beganAt: Date | null;
    /** Null while the run is in progress, and if its worker died. */
    endedAt: Date | null;
    outcome: RunOutcome | null;
    findings: Finding[];
    /** Seconds until the site may be verified again, ten minutes after its last run; 0: now. */
    ownWaitS: number;
    /** Seconds until a run of any site of the domain may begin; 0: now. */
    domainWaitS: number;
}

/** Minimum time between the starts of two runs of one registrable domain, in milliseconds (docs/api.md, "The registry"). */
export const RUN_EVERY_MS = 600_000;
const EVERY = `interval '${RUN_EVERY_MS} milliseconds'`;

/**
 * Schedules a run after the latest version may have changed. If a contributor published it, the run is due immediately. Versions of the
 * starter registry are not verified automatically. The caller holds the lock of the registrable domain.
 */
export async function scheduleRun(db: Db, site: string): Promise<void> {
    const latest = await db('sites as s')
        .leftJoin('versions as v', 'v.id', 's.latest_version_id')
        .where({ 's.site': site })
        .first('s.latest_version_id', 'v.origin');
    if (latest === undefined) return;
    await db('verifications')
        .insert({ site, due_at: latest.origin === 'published' ? now(db) : null })
        .onConflict('site')
        .merge({ due_at: db.raw('excluded.due_at'), attempts: 0 })
        .whereRaw('verifications.version_id is distinct from ?', [latest.latest_version_id]);
}

/** Makes a run due immediately, at the request of an operator. */
export async function requestRun(db: Db, site: string): Promise<void> {
    await db('verifications')
        .insert({ site, due_at: now(db) })
        .onConflict('site')
        .merge({ due_at: now(db), attempts: 0 });
}

/** Raw: due runs of sites that are not blocked and whose domain may have one. */
const DUE = `from verifications n
        join sites s on s.site = n.site
        join versions v on v.id = s.latest_version_id
        join domains d on d.registrable = s.registrable
        where n.due_at <= app_now() and not d.is_blocked
              and (d.verification_began_at is null or d.verification_began_at <= app_now() - ${EVERY})`;

/** Raw: whether a run is due. */
export const RUN_IS_DUE = `select true ${DUE} order by n.due_at limit 1`;

/** Raw: takes the lease of a run in one statement, which skips rows that another worker takes. */
const CLAIM_RUN = `
    with busy as materialized (
        select v.published_by_account as account, count(*) as runs
        from verifications n join versions v on v.id = n.version_id
        where n.ended_at is null and n.run > 0 and n.began_at > app_now() - ${EVERY}
        group by v.published_by_account
    ), due as materialized (
        select n.site, d.registrable, n.findings ${DUE}
        order by coalesce((select b.runs from busy b where b.account = v.published_by_account), 0), n.due_at limit 1
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
    returning n.site, due.registrable, n.run, v.id as "versionId", v.version, due.findings`;

/**
 * Claims a due run of a site that is not blocked and whose registrable domain had no run for ten minutes. Accounts take turns: runs of the
 * publisher with the fewest active runs come first, and among these the longest due. So nobody waits for the many slow sites of another
 * account. Until the run ends, its next attempt is scheduled in ten minutes, then after twice that time, and so on up to a day. So a run
 * whose worker died is repeated, and no two workers make the same run. Undefined if none is due.
 */
export async function claimRun(db: Db): Promise<VerificationRun | undefined> {
    const { rows } = await db.raw<{ rows: ClaimedRun[] }>(CLAIM_RUN);
    if (rows[0] === undefined) return undefined;
    const { findings, ...run } = rows[0];
    return { ...run, missed: (findings ?? []).filter(({ verdict }) => verdict !== 'passed').map(({ name }) => name) };
}

interface ClaimedRun extends Omit<VerificationRun, 'missed'> {
    /** The findings of the previous run; null if there was none or it never ended. */
    findings: Finding[] | null;
}

interface EndedRun {
    /** False if another run replaced this one; then nothing was written. */
    isRecorded: boolean;
    /** Whether this run removed `verified`. */
    hasDrifted: boolean;
}

/** Raw: the next due time depends on the version that was called, and on the site's latest version. */
const END_RUN = `
    update verifications n
    set ended_at = app_now(), outcome = :outcome, findings = :findings,
        attempts = case when :outcome = 'undecided' then n.attempts else 0 end,
        due_at = case
            when v.id is distinct from s.latest_version_id or :outcome = 'undecided' then n.due_at
            when v.origin = 'published' and :outcome <> 'nothing' then n.began_at + interval '1 day'
        end
    from sites s, versions v
    where n.site = :site and n.run = :run and n.ended_at is null and s.site = n.site and v.id = n.version_id
    returning n.version_id`;

/**
 * Records the result of a run. If all calls passed, the site is verified as of now. After three consecutive failures it is no longer
 * verified. Any other result changes nothing. The next run is due a day after this one began. No run is scheduled for a version of the
 * starter registry or without examples.
 */
export async function endRun(
    db: Db,
    { site, registrable, run }: VerificationRun,
    outcome: RunOutcome,
    findings: readonly Finding[],
): Promise<EndedRun> {
    return db.transaction(async (trx) => {
        // Locks in the same order as a publish.
        await trx('domains').where({ registrable }).forUpdate().select('registrable');
        const values = { site, run, outcome, findings: JSON.stringify(findings) };
        const { rows } = await trx.raw<{ rows: { version_id: number }[] }>(END_RUN, values);
        const versionId = rows[0]?.version_id;
        if (versionId === undefined) return { isRecorded: false, hasDrifted: false };
        // No site was called, so another run of the domain may begin.
        if (outcome === 'nothing') await trx('domains').where({ registrable }).update({ verification_began_at: null });
        const wasVerified = await keepPassed(trx, versionId, findings);
        if (outcome === 'passed')
            await updateVersion(trx, versionId, { verified_at: now(trx), verification_failures: 0, drifted_at: null });
        const hasDrifted = outcome === 'failed' && (await countFailedRun(trx, versionId));
        if (outcome === 'passed' && !wasVerified) await notifyOfVersion(trx, 'schema.verified', versionId);
        if (hasDrifted) await notifyOfVersion(trx, 'schema.drift', versionId);
        if (outcome === 'passed') await payOwedContribution(trx, registrable);
        else if (outcome !== 'undecided') await awaitCalls(trx, registrable, { site, isVerifiable: outcome === 'failed' });
        return { isRecorded: true, hasDrifted };
    });
}

async function notifyOfVersion(db: Db, type: 'schema.verified' | 'schema.drift', versionId: number): Promise<void> {
    const version = await db('versions').where({ id: versionId }).first('site', 'version', 'version_hash', 'verified_at', 'drifted_at');
    const { site, version_hash, verified_at, drifted_at } = version;
    const since = type === 'schema.verified' ? { verified_at: verified_at.toISOString() } : { drifted_at: drifted_at.toISOString() };
    await recordEvent(db, { type, site, data: { site, version: version.version, version_hash, ...since } });
}

/** Endpoints stay passed, as those of a large package take several runs. Resolves with whether the version was verified. */
async function keepPassed(db: Db, versionId: number, findings: readonly Finding[]): Promise<boolean> {
    const version = await db('versions').where({ id: versionId }).forUpdate().first('passed_endpoints', 'verified_at');
    const before: string[] = version.passed_endpoints;
    const passed = new Set([...before, ...findings.filter(({ verdict }) => verdict === 'passed').map(({ name }) => name)]);
    const passed_endpoints = [...passed];
    if (passed.size > before.length) await db('versions').where({ id: versionId }).update({ passed_endpoints });
    return version.verified_at !== null;
}

/** Resolves with whether this failure removed `verified`. */
async function countFailedRun(db: Db, versionId: number): Promise<boolean> {
    const [version] = await db('versions')
        .where({ id: versionId })
        .increment('verification_failures')
        .returning(['verified_at', 'verification_failures']);
    if (version.verified_at === null || version.verification_failures < FAILURES_TO_DRIFT) return false;
    await updateVersion(db, versionId, { verified_at: null, passed_endpoints: [], drifted_at: now(db) });
    return true;
}

/** `sites` contains a copy of the verification state of its latest version. */
async function updateVersion(db: Db, versionId: number, state: object): Promise<void> {
    const version = db('versions').where({ id: versionId });
    await version.clone().update(state);
    const verified_at = version.clone().select('verified_at');
    await db('sites').where({ latest_version_id: versionId }).update({ verified_at });
    await noteVerified(db, versionId);
}

export async function readState(db: Db, site: string): Promise<VerificationState> {
    const wait = (began: string) =>
        db.raw(`coalesce(greatest(0, ceil(extract(epoch from ?? + ${EVERY} - app_now()))), 0)::integer`, [began]);
    const known: Columns<VerificationState> = {
        run: db.raw('coalesce(n.run, 0)'),
        ...columns('n', 'version_id began_at ended_at outcome'),
        findings: db.raw("coalesce(n.findings, '[]')"),
        ownWaitS: wait('n.began_at'),
        domainWaitS: wait('d.verification_began_at'),
    };
    const state = await db('sites as s')
        .join('domains as d', 'd.registrable', 's.registrable')
        .leftJoin('verifications as n', 'n.site', 's.site')
        .where({ 's.site': site })
        .first(known);
    return state ?? { run: 0, versionId: null, beganAt: null, endedAt: null, outcome: null, findings: [], ownWaitS: 0, domainWaitS: 0 };
}

/** The findings about one version so far. */
interface VersionState {
    version: number;
    verifiedAt: Date | null;
    /** When it lost its verification; null if it did not. */
    driftedAt: Date | null;
    /** Number of consecutive failed runs, including the last one. */
    failures: number;
}

const VERSION_STATE: Columns<VersionState> = {
    version: 'version',
    verifiedAt: 'verified_at',
    driftedAt: 'drifted_at',
    failures: 'verification_failures',
};

export async function readVersion(db: Db, versionId: number): Promise<VersionState | undefined> {
    return db('versions').where({ id: versionId }).first(VERSION_STATE);
}

/** Sites whose latest version no longer matches them, latest first, at most `limit`. */
export async function driftedSchemas(db: Db, limit: number): Promise<{ site: string; version: number; driftedAt: Date }[]> {
    return queryDrifted(db)
        .orderBy([{ column: 'v.drifted_at', order: 'desc' }, 's.site'])
        .limit(limit)
        .select({ site: 's.site', version: 'v.version', driftedAt: 'v.drifted_at' });
}

/** Number of sites whose latest version lost `verified` because the site no longer answers as described. */
export async function countDrifted(db: Db): Promise<number> {
    return countRows(queryDrifted(db));
}

function queryDrifted(db: Db) {
    return db('versions as v').join('sites as s', 's.latest_version_id', 'v.id').whereNotNull('v.drifted_at');
}
