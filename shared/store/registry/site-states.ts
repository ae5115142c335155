import { getOrMake } from '../../domain/get-or-make.ts';
import { type SitePolicy, type StrictestPolicy, strictest } from '../../domain/site/site-policy.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { growingCache } from '../../platform/growing-cache.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { VERSION_COLUMNS, type VersionRef, versionIn } from './history.ts';
import type { HostPaces } from './paces.ts';

export interface SiteQuestion {
    site: string;
    registrable: string;
    /** A version by number; absent: the latest version. */
    version?: number | undefined;
}

/** The current state of a site, and the requested version. */
export interface SiteState {
    site: string;
    registrable: string;
    /** Price of one unit, in credits. */
    siteCredits: number;
    /** Maximum number of concurrent fetches that the operator set; null: half of all slots. */
    siteConcurrency: number | null;
    /** Upstream requests a second; null: no limit. */
    siteRate: number | null;
    /** Rate limits that the latest versions of the domain declare. */
    paces: HostPaces;
    takesCookies: boolean;
    /** The combined policies of owner and operator; null if there is none. */
    policy: StrictestPolicy | null;
    isBlocked: boolean;
    /** Whether any version has ever been published. */
    isKnown: boolean;
    /** The requested version, in any state, or otherwise the latest; undefined if there is none. */
    version: VersionRef | undefined;
    /** The ids of all versions that were the latest within the last 24 hours, including the current one. They limit the price. */
    latestOfDay: number[];
    /** Changes whenever a field above changes, except when a version leaves `latestOfDay` by age. */
    revision: string;
}

export type Latest = ReturnType<typeof createLatest>;

/** How long a state is cached, in milliseconds; the same time as for callers (callers.ts). */
const REMEMBERED_MS = 700;
const MAX_REMEMBERED = 10_000;

/** Looks up sites. All look-ups of one tick share one query. */
export function createLatest(db: Db) {
    const known = growingCache<string, SiteState>(MAX_REMEMBERED, REMEMBERED_MS);
    const look = async (questions: readonly SiteQuestion[]) => {
        const places = new Map<string, number>();
        const different: SiteQuestion[] = [];
        const asked = questions.map((question) => getOrMake(places, keyOf(question), () => different.push(question) - 1));
        // The lifetime starts with the query, so that a slow database does not extend it.
        const start = performance.now();
        const answers = await findSiteStates(db, different);
        for (const [place, answer] of answers.entries()) known.set(keyOf(different[place] as SiteQuestion), answer, { start });
        return asked.map((place) => answers[place] as SiteState);
    };
    return {
        /** Reads the database at every call, because publishing, yanking and blocking take effect immediately. */
        find: openBatch({ run: look }).add,
        /** At most 700 ms old. `credits.hold` must check its revision, and `find` must be called before anything is refused. */
        recall: (question: SiteQuestion) => known.get(keyOf(question)),
    };
}

function keyOf({ site, version = LATEST }: SiteQuestion): string {
    return `${site} ${version}`;
}

/** A single look-up, also within a transaction. */
export async function findLatest(db: Db, question: SiteQuestion): Promise<SiteState> {
    const [state] = await findSiteStates(db, [question]);
    if (state === undefined) throw new Error('the site query returned no row for a question');
    return state;
}

async function findSiteStates(db: Db, questions: readonly SiteQuestion[]): Promise<SiteState[]> {
    const rows = await runPrepared<SiteStateColumns>(db, SITE_STATES, columns(questions), TIMEOUT_MS);
    return rows.map(toSiteState);
}

/** Means that no version is named. Version numbers begin at 1. */
const LATEST = 0;
const TIMEOUT_MS = 5000;

const SITE_STATES: PreparedQuery = {
    name: 'site_states',
    text: `with clock as materialized (select app_now() as moment)
        select wanted.site, wanted.registrable, coalesce(d.credits, 1) as "siteCredits", d.concurrency as "siteConcurrency",
                least(d.rate, (d.policy->>'requests_per_minute')::double precision / 60,
                      (d.operator_policy->>'requests_per_minute')::double precision / 60) as "siteRate",
                coalesce(d.paces, '{}') as paces, coalesce(d.takes_cookies, true) as "takesCookies", d.policy, d.operator_policy,
                coalesce(d.is_blocked, false) as "isBlocked", s.versions is not null as "isKnown", ${VERSION_COLUMNS},
                array(select distinct spell.version_id from latest_spells spell
                      where spell.site = s.site and (spell.ended_at is null
                            or spell.ended_at > (select moment from clock) - interval '24 hours')
                     )::double precision[] as "latestOfDay",
                format('%s:%s:%s', d.revision, s.revision, v.revision) as revision
         from unnest((select $1::text[]), (select $2::text[]), (select $3::bigint[])) with ordinality as wanted (site, registrable, version, place)
         left join domains d on d.registrable = wanted.registrable
         left join sites s on s.site = wanted.site
         left join versions v on v.id = case when wanted.version = ${LATEST} then s.latest_version_id
             else (select named.id from versions named where named.site = wanted.site and named.version = wanted.version) end
         order by wanted.place`,
};

function columns(questions: readonly SiteQuestion[]): (string[] | number[])[] {
    return [
        questions.map(({ site }) => site),
        questions.map(({ registrable }) => registrable),
        questions.map(({ version }) => version ?? LATEST),
    ];
}

type SiteStateColumns = Omit<SiteState, 'policy' | 'version'> &
    (VersionRef | { versionId: null }) & { policy: SitePolicy | null; operator_policy: SitePolicy | null };

function toSiteState(row: SiteStateColumns): SiteState {
    return {
        site: row.site,
        registrable: row.registrable,
        siteCredits: row.siteCredits,
        siteConcurrency: row.siteConcurrency,
        siteRate: row.siteRate,
        paces: row.paces,
        takesCookies: row.takesCookies,
        policy: strictest([row.policy, row.operator_policy]),
        isBlocked: row.isBlocked,
        isKnown: row.isKnown,
        version: versionIn(row),
        latestOfDay: row.latestOfDay,
        revision: row.revision,
    };
}
