import type { RunOutcome } from '../../domain/package/verification.ts';
import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import { columns, type Db, now } from '../../platform/db.ts';

/** Verification state of a site that Routebook maintains. */
type StarterState = 'verified' | 'failing' | 'undecided' | 'nothing to call' | 'in line' | 'never run';

interface StarterSite {
    site: string;
    registrable: string;
    version: number;
    state: StarterState;
    verifiedAt: Date | null;
    lastRunAt: Date | null;
}

/** The sites in use that Routebook maintains, by name. */
export async function listStarterSites(db: Db): Promise<StarterSite[]> {
    const rows: StarterRow[] = await db('maintainers as m')
        .join('sites as s', 's.registrable', 'm.registrable')
        .join('versions as v', 'v.id', 's.latest_version_id')
        .leftJoin('verifications as n', 'n.site', 's.site')
        .where({ 'm.workspace_id': ROUTEBOOK_WORKSPACE })
        .orderBy('s.site')
        .select({
            ...columns('s', 'site registrable'),
            ...columns('v', 'version verified_at drifted_at'),
            ...columns('n', 'outcome'),
            lastRunAt: 'n.ended_at',
            isDue: db.raw('coalesce(n.due_at <= app_now(), false)'),
            isOfLatest: db.raw('coalesce(n.version_id = v.id, false)'),
        });
    return rows.map(({ driftedAt, outcome, isDue, isOfLatest, ...site }) => ({
        ...site,
        state: stateOf({ verifiedAt: site.verifiedAt, driftedAt, outcome: isOfLatest ? outcome : null, isDue }),
    }));
}

interface StarterRow extends Omit<StarterSite, 'state'> {
    driftedAt: Date | null;
    outcome: RunOutcome | null;
    isDue: boolean;
    isOfLatest: boolean;
}

function stateOf({
    verifiedAt,
    driftedAt,
    outcome,
    isDue,
}: Pick<StarterRow, 'verifiedAt' | 'driftedAt' | 'outcome' | 'isDue'>): StarterState {
    if (driftedAt !== null || outcome === 'failed') return 'failing';
    if (verifiedAt !== null) return 'verified';
    if (isDue) return 'in line';
    if (outcome === 'nothing') return 'nothing to call';
    return outcome === null ? 'never run' : 'undecided';
}

/**
 * Includes starter packages in the daily runs (STARTER_VERIFY). Their next run is due a day after the last one began, or immediately if
 * there was none. A package without anything to call waits for its next version.
 * @returns the number of runs that became due
 */
export async function scheduleStarters(db: Db): Promise<number> {
    const starters = db('sites as s')
        .join('versions as v', 'v.id', 's.latest_version_id')
        .whereRaw("s.site = verifications.site and v.origin = 'starter'")
        .whereRaw("(verifications.outcome is distinct from 'nothing' or verifications.version_id is distinct from v.id)");
    return db('verifications')
        .whereNull('due_at')
        .whereExists(starters.select(db.raw('1')))
        .update({ due_at: db.raw("coalesce(began_at + interval '1 day', ?)", [now(db)]) });
}
