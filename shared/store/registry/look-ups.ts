import { getOrMake } from '../../domain/get-or-make.ts';
import type { FindingVerdict } from '../../domain/package/verification.ts';
import type { Claim } from '../../domain/site/claim.ts';
import { type SitePolicy, type StrictestPolicy, strictest } from '../../domain/site/site-policy.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { growingCache } from '../../platform/growing-cache.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { ENDPOINT_HEALTH, type EndpointHealth, type EndpointHealthColumns, toEndpointHealth, WEEK } from '../usage/traffic.ts';
import { VERSION_COLUMNS, type VersionRef, versionIn } from './history.ts';
import { claimOf } from './ownership.ts';
import type { LoadedVersion, Versions } from './versions.ts';

interface LookUpQuestion {
    site: string;
    registrable: string;
    words: readonly string[];
}

/** The current catalog data of a site. */
interface LookUp {
    isBlocked: boolean;
    /** The owner's policy; null if there is none. */
    policy: StrictestPolicy | null;
    /** Price of one unit, in credits. */
    siteCredits: number;
    /** Undefined if there is none. `load` reads and parses its package: call it after the caller was authorized. */
    latest: { ref: VersionRef; claim: Claim; load(): Promise<LoadedVersion> } | undefined;
    health: EndpointHealth;
    /** For each word and endpoint, the number of callers that an intent with this word led to the endpoint. */
    outcomes: ReadonlyMap<string, ReadonlyMap<string, number>>;
    /** For each endpoint, the verdict of the last verification run. */
    verdicts: ReadonlyMap<string, FindingVerdict>;
}

export interface LookUps {
    /**
     * Reads the database at every call, because publishing, yanking and blocking take effect immediately. All questions of one tick share
     * one query. Versions are cached in this process. The health of a site is at most a second old.
     */
    find(question: LookUpQuestion): Promise<LookUp>;
}

/** The request log is written within a second, so statistics of it are cached for the same time. */
const FRESH_MS = 1000;
const MAX_REMEMBERED = 10_000;

/** Looks up sites for the catalog in one round trip to the database. */
export function createLookUps(db: Db, versions: Versions): LookUps {
    const healths = growingCache<string, EndpointHealth>(MAX_REMEMBERED, FRESH_MS);
    /** The id of each site's latest version at its last look-up. A cached package is not read again. */
    const latestIds = growingCache<string, number>(MAX_REMEMBERED);

    async function look(questions: readonly LookUpQuestion[]): Promise<LookUp[]> {
        const asked = [...Map.groupBy(questions, ({ site }) => site)].map(([site, ofSite]): Asked => {
            const registrable = ofSite[0]?.registrable ?? site;
            const words = new Set(ofSite.flatMap((question) => question.words));
            const known = versions.recall(latestIds.get(site) ?? NO_VERSION);
            return { site, registrable, words: [...words], known, health: healths.get(site) };
        });
        const rows = await readLookUps(db, asked);
        const found = new Map(asked.map((one, place) => [one.site, toLookUp(one, rows[place] as LookUpColumns)]));
        return questions.map(({ site }) => found.get(site) as LookUp);
    }

    function toLookUp({ site, known, health: remembered }: Asked, row: LookUpColumns): LookUp {
        const health = remembered ?? toEndpointHealth(row.health ?? []);
        if (remembered === undefined) healths.set(site, health);
        return {
            isBlocked: row.is_blocked,
            policy: strictest([row.policy, row.operator_policy]),
            siteCredits: row.credits,
            latest: latestOf(site, known, row),
            health,
            outcomes: byWord(row.outcomes ?? []),
            verdicts: new Map(row.findings?.map(({ name, verdict }) => [name, verdict])),
        };
    }

    function latestOf(site: string, known: LoadedVersion | undefined, row: LookUpColumns): LookUp['latest'] {
        const ref = versionIn(row);
        if (ref === undefined) return undefined;
        const { document, documentHosts, claim } = row;
        const { versionId: id, version, versionHash: version_hash } = ref;
        latestIds.set(site, id);
        let loaded = known?.versionId === id ? Promise.resolve(known) : undefined;
        const read = async () => {
            if (document !== null) return versions.take({ id, site, version, version_hash, document, hosts: documentHosts ?? [] });
            const found = await versions.load(id);
            if (found === undefined) throw new Error(`version ${id} does not exist, but versions are never deleted`);
            return found;
        };
        return { ref, claim, load: () => (loaded ??= read()) };
    }

    return { find: openBatch({ run: look }).add };
}

interface Asked extends LookUpQuestion {
    /** The version that was the latest at the last look-up, if it is cached. */
    known: LoadedVersion | undefined;
    health: EndpointHealth | undefined;
}

/** An id that does not exist. Ids begin at 1. */
const NO_VERSION = 0;
/**
 * Maximum stored size in bytes of a package that is read with the look-up; PostgreSQL compresses by a factor of at most 90. Larger packages
 * are read only for authorized callers, because anybody can send a call that is refused.
 */
const MAX_READ_WITH_LOOK_UP = 2 * 1024;
const TIMEOUT_MS = 5000;

const LOOK_UPS: PreparedQuery = {
    name: 'look_ups',
    text: `with ${WEEK}
        select coalesce(d.credits, 1) as credits, coalesce(d.is_blocked, false) as is_blocked, d.policy, d.operator_policy, ${claimOf('asked.registrable')} as claim,
               ${VERSION_COLUMNS},
               case when v.id <> asked.known_id and pg_column_size(v.document) < ${MAX_READ_WITH_LOOK_UP} then v.document::text end as document,
               case when v.id <> asked.known_id then v.hosts end as "documentHosts",
               case when asked.is_health_wanted then (select json_agg(h) from (${ENDPOINT_HEALTH}) as h) end as health,
               (select json_agg(json_build_array(o.word, o.endpoint, o.callers)) from intent_outcomes o
                where o.site = asked.site and o.word = any (string_to_array(asked.words, ' '))) as outcomes,
               (select r.findings from verifications r
                where r.site = asked.site and r.version_id = v.id and r.outcome in ('passed', 'failed')) as findings
        from week, unnest((select $1::text[]), (select $2::text[]), (select $3::text[]), (select $4::bigint[]), (select $5::boolean[]))
             with ordinality as asked (site, registrable, words, known_id, is_health_wanted, place)
        left join domains d on d.registrable = asked.registrable
        left join sites s on s.site = asked.site
        left join versions v on v.id = s.latest_version_id
        order by asked.place`,
};

/** Returns the rows in the order of their questions. */
async function readLookUps(db: Db, asked: readonly Asked[]): Promise<LookUpColumns[]> {
    const columns = [
        asked.map(({ site }) => site),
        asked.map(({ registrable }) => registrable),
        asked.map(({ words }) => words.join(' ')),
        asked.map(({ known }) => known?.versionId ?? NO_VERSION),
        asked.map(({ health }) => health === undefined),
    ];
    return runPrepared<LookUpColumns>(db, LOOK_UPS, columns, TIMEOUT_MS);
}

type LookUpColumns = (VersionRef | { versionId: null }) & {
    credits: number;
    is_blocked: boolean;
    policy: SitePolicy | null;
    operator_policy: SitePolicy | null;
    claim: Claim;
    /** Null if the package is cached or large. */
    document: string | null;
    documentHosts: string[] | null;
    health: EndpointHealthColumns[] | null;
    outcomes: [word: string, endpoint: string, callers: number][] | null;
    findings: { name: string; verdict: FindingVerdict }[] | null;
};

function byWord(outcomes: readonly [string, string, number][]): Map<string, Map<string, number>> {
    const words = new Map<string, Map<string, number>>();
    for (const [word, endpoint, callers] of outcomes) getOrMake(words, word, () => new Map()).set(endpoint, callers);
    return words;
}
