import { FAILURES_TO_DRIFT, type Finding, type RunOutcome } from '../../domain/package/verification.ts';
import { type Columns, columns, countRows, type Db, now } from '../../platform/db.ts';
import { awaitCalls, payOwedContribution } from '../credits/credits.ts';
import { recordEvent } from '../events/events.ts';
import { noteVerified } from './endpoint-index.ts';

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

/** Makes a run due at once; an operator requests it. */
export async function requestRun(db: Db, site: string): Promise<void> {
    await db('verifications')
        .insert({ site, due_at: now(db) })
        .onConflict('site')
        .merge({ due_at: now(db), attempts: 0 });
}

/** Raw: the lease of a run is one statement, which passes over what another worker takes. */
const CLAIM_RUN = `
    with busy as materialized (
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
    returning n.site, due.registrable, n.run, v.id as "versionId", v.version, due.findings`;

/**
 * Takes a run that is due: of a site that is not blocked, and whose registrable domain had none for ten minutes. Accounts take turns:
 * first comes what was published by the one with the fewest runs that go on, and of that what has been due for longest, so that nobody
 * waits for the many sites of another account, which answer as slowly as they like.
 * Until it ends, the next try is due after these ten minutes, then after twice as long and so on up to a day: so a run whose worker
 * died is made again, and nobody makes it twice. Undefined if none is due.
 */
export async function claimRun(db: Db): Promise<VerificationRun | undefined> {
    const { rows } = await db.raw<{ rows: ClaimedRun[] }>(CLAIM_RUN);
    if (rows[0] === undefined) return undefined;
    const { findings, ...run } = rows[0];
    return { ...run, missed: (findings ?? []).filter(({ verdict }) => verdict !== 'passed').map(({ name }) => name) };
}

interface ClaimedRun extends Omit<VerificationRun, 'missed'> {
    /** Of the run before; null if there was none, or where it never ended. */
    findings: Finding[] | null;
}

export interface EndedRun {
    /** False if the run was replaced meanwhile: then nothing was written. */
    isRecorded: boolean;
    /** This very run took `verified` away. */
    hasDrifted: boolean;
}

/** Raw: what is due next depends on the version that was called, and on the site's latest. */
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
        await trx('domains').where({ registrable }).forUpdate().select('registrable');
        const values = { site, run, outcome, findings: JSON.stringify(findings) };
        const { rows } = await trx.raw<{ rows: { version_id: number }[] }>(END_RUN, values);
        const versionId = rows[0]?.version_id;
        if (versionId === undefined) return { isRecorded: false, hasDrifted: false };
        // No site was called: the domain's turn is free again.
        if (outcome === 'nothing') await trx('domains').where({ registrable }).update({ verification_began_at: null });
        const wasVerified = await keepPassed(trx, versionId, findings);
        if (outcome === 'passed')
            await updateVersion(trx, versionId, { verified_at: now(trx), verification_failures: 0, drifted_at: null });
        const hasDrifted = outcome === 'failed' && (await countFailure(trx, versionId));
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

/**
 * Endpoints stay passed until the version is not verified any more: a large package is called in parts. Resolves with whether the version
 * was verified until now.
 */
async function keepPassed(db: Db, versionId: number, findings: readonly Finding[]): Promise<boolean> {
    const version = await db('versions').where({ id: versionId }).forUpdate().first('passed_endpoints', 'verified_at');
    const before: string[] = version.passed_endpoints;
    const passed = new Set([...before, ...findings.filter(({ verdict }) => verdict === 'passed').map(({ name }) => name)]);
    const passed_endpoints = [...passed];
    if (passed.size > before.length) await db('versions').where({ id: versionId }).update({ passed_endpoints });
    return version.verified_at !== null;
}

/** Resolves with whether this failure took `verified` away. */
async function countFailure(db: Db, versionId: number): Promise<boolean> {
    const [version] = await db('versions')
        .where({ id: versionId })
        .increment('verification_failures')
        .returning(['verified_at', 'verification_failures']);
    if (version.verified_at === null || version.verification_failures < FAILURES_TO_DRIFT) return false;
    await updateVersion(db, versionId, { verified_at: null, passed_endpoints: [], drifted_at: now(db) });
    return true;
}

/** `sites` repeats the verification state of its latest version. */
async function updateVersion(db: Db, versionId: number, state: object): Promise<void> {
    const version = db('versions').where({ id: versionId });
    await version.clone().update(state);
    const verified_at = version.clone().select('verified_at');
    await db('sites').where({ latest_version_id: versionId }).update({ verified_at });
    await noteVerified(db, versionId);
}

/** The verification state of a site. */
export async function readState(db: Db, site: string): Promise<VerificationState> {
    const wait = (began: string) =>
        db.raw(`coalesce(greatest(0, ceil(extract(epoch from ?? + ${EVERY} - app_now()))), 0)::integer`, [began]);
    const known: Columns<VerificationState> = {
        run: db.raw('coalesce(n.run, 0)'),
        ...columns('n', 'version_id', 'began_at', 'ended_at', 'outcome'),
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
    /** Since when it is no longer verified. */
    driftedAt: Date | null;
    /** Failed runs in a row, up to the last one. */
    failures: number;
}

const VERSION_STATE: Columns<VersionState> = {
    version: 'version',
    verifiedAt: 'verified_at',
    driftedAt: 'drifted_at',
    failures: 'verification_failures',
};

/** Undefined if there is no such version. */
export async function readVersion(db: Db, versionId: number): Promise<VersionState | undefined> {
    return db('versions').where({ id: versionId }).first(VERSION_STATE);
}

interface DriftedSchema {
    site: string;
    version: number;
    driftedAt: Date;
}

/** Sites whose latest version no longer matches them, latest first; returns `most` rows at most. */
export async function driftedSchemas(db: Db, most: number): Promise<DriftedSchema[]> {
    return queryDrifted(db)
        .orderBy([{ column: 'v.drifted_at', order: 'desc' }, 's.site'])
        .limit(most)
        .select({ site: 's.site', version: 'v.version', driftedAt: 'v.drifted_at' });
}

/** Sites whose latest version lost `verified` since the site no longer answers as it says. */
export async function countDrifted(db: Db): Promise<number> {
    return countRows(queryDrifted(db));
}

function queryDrifted(db: Db) {
    return db('versions as v').join('sites as s', 's.latest_version_id', 'v.id').whereNotNull('v.drifted_at');
}
