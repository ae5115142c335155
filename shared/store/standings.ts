import type { Db } from '../db.ts';
import type { SitePolicy } from '../domain/site-policy.ts';
import { growingCache } from '../growing-cache.ts';
import { perTick } from '../per-tick.ts';
import { run, type Statement } from './statement.ts';
import { toVersionRef, VERSION_COLUMNS, type VersionColumns, type VersionRef } from './version-rows.ts';

export interface SiteQuestion {
    /** Normalised. */
    site: string;
    registrable: string;
    /** A version by number; the latest where it is absent. */
    version?: number | undefined;
}

/** How a site stands at this moment, and the version that was asked for. */
export interface Standing {
    site: string;
    registrable: string;
    /** Credits of one unit. */
    siteCredits: number;
    /** Fetches in flight that replace half of all slots; null: the half. */
    siteConcurrency: number | null;
    /** Upstream requests a second; null: as fast as they come. */
    siteRate: number | null;
    /** What the owner allows; null where no owner ever said anything. */
    policy: SitePolicy | null;
    isBlocked: boolean;
    /** Whether any version was ever published. */
    isKnown: boolean;
    /** The version named (whatever its state), otherwise the latest; undefined where there is none. */
    version: VersionRef | undefined;
    /** Ids of all versions that were the latest within the last 24 hours, the present one among them: they bound the price. */
    latestOfDay: number[];
    /** Changes with everything above, apart from what leaves `latestOfDay` by the time alone. */
    stamp: string;
}

export interface Latest {
    /** Reads anew at every call, since a publish, a yank and a block are effective at once. */
    find(question: SiteQuestion): Promise<Standing>;
    /**
     * What was found within the last 700 ms, if anything: for whoever has it judged by its stamp before he does anything
     * (`credits.hold`), and finds anew before he refuses anything.
     */
    recall(question: SiteQuestion): Standing | undefined;
}

/** How long a standing is remembered, as long as a caller (keys.ts). */
const REMEMBERED_MS = 700;
const MAX_REMEMBERED = 10_000;

/** Looks sites up, all questions of one tick in one query, and equal ones once. */
export function openLatest(db: Db): Latest {
    const known = growingCache<string, Standing>(MAX_REMEMBERED, REMEMBERED_MS);
    const look = perTick(async (questions: readonly SiteQuestion[]) => {
        const places = new Map<string, number>();
        const different: SiteQuestion[] = [];
        const asked = questions.map((question) => {
            const key = keyOf(question);
            const place = places.get(key) ?? different.push(question) - 1;
            places.set(key, place);
            return place;
        });
        // Counted from the question: a slow database must not make an answer live longer.
        const start = performance.now();
        const answers = await findStandings(db, different);
        for (const [place, answer] of answers.entries()) known.set(keyOf(different[place] as SiteQuestion), answer, { start });
        return asked.map((place) => answers[place] as Standing);
    });
    return { find: look, recall: (question) => known.get(keyOf(question)) };
}

function keyOf({ site, version = LATEST }: SiteQuestion): string {
    return `${site} ${version}`;
}

/** One look-up outside the hot path; within a transaction too. */
export async function findLatest(db: Db, question: SiteQuestion): Promise<Standing> {
    const [standing] = await findStandings(db, [question]);
    if (standing === undefined) throw new Error('a question without an answer');
    return standing;
}

async function findStandings(db: Db, questions: readonly SiteQuestion[]): Promise<Standing[]> {
    const rows = await run<StandingColumns>(db, STANDINGS, columns(questions), TIMEOUT_MS);
    return rows.map(toStanding);
}

/** Stands for "no version named": numbers begin at 1. */
const LATEST = 0;
const TIMEOUT_MS = 5000;

const STANDINGS: Statement = {
    name: 'standings',
    text: `with clock as materialized (select app_now() as moment)
        select wanted.site, wanted.registrable, coalesce(d.credits, 1) as credits, d.concurrency,
                least(d.rate, (d.policy->>'requests_per_minute')::double precision / 60) as rate, d.policy,
                coalesce(d.is_blocked, false) as is_blocked, s.versions is not null as is_known, ${VERSION_COLUMNS},
                array(select distinct spell.version_id from latest_spells spell
                      where spell.site = s.site and (spell.ended_at is null
                            or spell.ended_at > (select moment from clock) - interval '24 hours')
                     )::double precision[] as latest_of_day,
                format('%s:%s:%s', d.xmin, s.xmin, v.xmin) as stamp
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

interface StandingColumns extends Omit<VersionColumns, 'version_id'> {
    /** null where there is no such version, and then all of its columns are. */
    version_id: number | null;
    site: string;
    registrable: string;
    credits: number;
    concurrency: number | null;
    rate: number | null;
    policy: SitePolicy | null;
    is_blocked: boolean;
    is_known: boolean;
    latest_of_day: number[];
    stamp: string;
}

function toStanding(row: StandingColumns): Standing {
    const { version_id } = row;
    return {
        site: row.site,
        registrable: row.registrable,
        siteCredits: row.credits,
        siteConcurrency: row.concurrency,
        siteRate: row.rate,
        policy: row.policy,
        isBlocked: row.is_blocked,
        isKnown: row.is_known,
        version: version_id === null ? undefined : toVersionRef({ ...row, version_id }),
        latestOfDay: row.latest_of_day,
        stamp: row.stamp,
    };
}
