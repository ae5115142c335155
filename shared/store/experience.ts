import { LRUCache } from 'lru-cache';
import type { Db } from '../db.ts';
import type { FindingVerdict } from '../domain/verification.ts';
import { perTick } from '../per-tick.ts';
import { run, type Statement } from './statement.ts';
import { ENDPOINT_HEALTH, type EndpointHealth, type EndpointHealthColumns, toEndpointHealth, WEEK } from './traffic.ts';

export interface ExperienceQuestion {
    site: string;
    versionId: number;
    /** Words of an intent. */
    words: readonly string[];
}

/** What is known of the endpoints of a version beside what its package says. */
export interface Experience {
    health: EndpointHealth;
    /** By word and endpoint, how many callers were led there by an intent with this word. */
    outcomes: ReadonlyMap<string, ReadonlyMap<string, number>>;
    /** By endpoint, what the last verification run found. */
    verdicts: ReadonlyMap<string, FindingVerdict>;
}

export interface Experiences {
    /** All questions of one tick are one query; the health of a site is what was known a second ago at the latest. */
    find(question: ExperienceQuestion): Promise<Experience>;
}

/** The request log is written within a second; what it says is remembered for as long. */
const FRESH_MS = 1000;

export function openExperiences(db: Db): Experiences {
    const known = new LRUCache<string, EndpointHealth>({ max: 10_000, ttl: FRESH_MS });
    const look = perTick((questions: readonly Asked[]) => findExperiences(db, questions));
    return {
        async find(question) {
            const before = known.get(question.site);
            const { health, ...rest } = await look({ ...question, isHealthWanted: before === undefined });
            if (before === undefined) known.set(question.site, health);
            return { ...rest, health: before ?? health };
        },
    };
}

interface Asked extends ExperienceQuestion {
    isHealthWanted: boolean;
}

const TIMEOUT_MS = 5000;

const EXPERIENCES: Statement = {
    name: 'experiences',
    text: `with ${WEEK}
        select case when asked.is_health_wanted then (select json_agg(h) from (${ENDPOINT_HEALTH}) as h) end as health,
               (select json_agg(json_build_array(o.word, o.endpoint, o.callers)) from intent_outcomes o
                where o.site = asked.site and o.word = any (string_to_array(asked.words, ' '))) as outcomes,
               (select v.findings from verifications v
                where v.site = asked.site and v.version_id = asked.version_id and v.outcome in ('passed', 'failed')) as findings
        from week, unnest((select $1::text[]), (select $2::bigint[]), (select $3::text[]), (select $4::boolean[])) with ordinality
             as asked (site, version_id, words, is_health_wanted, place)
        order by place`,
};

async function findExperiences(db: Db, questions: readonly Asked[]): Promise<Experience[]> {
    const columns = [
        questions.map(({ site }) => site),
        questions.map(({ versionId }) => versionId),
        questions.map(({ words }) => words.join(' ')),
        questions.map(({ isHealthWanted }) => isHealthWanted),
    ];
    const rows = await run<ExperienceColumns>(db, EXPERIENCES, columns, TIMEOUT_MS);
    return rows.map(({ health, outcomes, findings }) => ({
        health: toEndpointHealth(health ?? []),
        outcomes: byWord(outcomes ?? []),
        verdicts: new Map(findings?.map(({ name, verdict }) => [name, verdict])),
    }));
}

interface ExperienceColumns {
    health: EndpointHealthColumns[] | null;
    outcomes: [word: string, endpoint: string, callers: number][] | null;
    findings: { name: string; verdict: FindingVerdict }[] | null;
}

function byWord(outcomes: readonly [string, string, number][]): Map<string, Map<string, number>> {
    const words = new Map<string, Map<string, number>>();
    for (const [word, endpoint, callers] of outcomes) {
        const endpoints = words.get(word) ?? new Map<string, number>();
        words.set(word, endpoints.set(endpoint, callers));
    }
    return words;
}
