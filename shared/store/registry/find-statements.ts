import { type Candidates, queryOf, THRESHOLD } from '../../domain/find/candidates.ts';
import { MARKS } from '../../domain/find/endpoint-words.ts';
import type { Found } from '../../domain/find/order.ts';
import { ALIKE, CLASS_WEIGHTS, ID_UNKNOWN, memorableTaskWords, type Search } from '../../domain/find/weigh.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Effect, Kind } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { type Composed, compose, runComposed } from '../../platform/prepared-query.ts';
import type { CheckedEndpoint } from './refused-endpoints.ts';

/** Criteria for endpoints. Undefined ones do not restrict the result. */
export interface FindFilters {
    /** `parent` for all its children, or `parent/child`. */
    category: string | undefined;
    kind: Kind | undefined;
    effect: Effect | undefined;
    /** The normalised site. */
    site: string | undefined;
    isVerifiedOnly: boolean;
    /** Maximum price of one unit. */
    maxCredits: number | undefined;
    /** Whether the endpoint requires a credential of the caller. */
    needsConnection: boolean | undefined;
}

/** An endpoint that matches a task. */
export interface FoundEndpoint extends Found {
    site: string;
}

export interface FoundRow extends FoundEndpoint {
    policies: CheckedEndpoint | null;
}

interface WordsRow extends FoundRow {
    direction: string | null;
}

/** Its score is that of its words, which may be 0. */
interface NearRow extends FoundRow {
    similarity: number;
}

/** Maximum number of endpoints that are scored for one task, so no list is longer. */
const MAX_SCORED = 200;
/**
 * A tier is searched only if the previous tiers found fewer than this: FULL if it and they read at most FEW_WALKED index entries, ENOUGH if
 * more. The last two tiers are skipped if more than MAX_WALKED entries would be read.
 */
const FULL = MAX_SCORED;
const ENOUGH = 20;
const FEW_WALKED = 1500;
const MAX_WALKED = 6000;
/** The share of all endpoints in each tier and the previous ones together (migrations/160_endpoints.ts). */
const UP_TO_TIER = [1 / 64, 1 / 8, 1] as const;
/** The index does not contain filters. With a filter, the search has to read more entries for the same number of endpoints. */
const NARROWED_WALK = 4;
const TIMEOUT_MS = 2000;

/** The endpoints with words of the task, in no order. An endpoint may be found twice. */
export function findByWords(db: Db, search: Search, candidates: Candidates, filters: FindFilters): Promise<WordsRow[]> {
    const values = { ...valuesOf(search, filters), ...walksOf(candidates, filters) };
    return runComposed<WordsRow>(db, rankingFor(search, filters), values, TIMEOUT_MS);
}

/** The endpoints nearest to a vector, nearest first, with their scores by words. */
export function findNearest(
    db: Db,
    search: Search,
    { vector, filters, timeoutMs }: { vector: readonly number[]; filters: FindFilters; timeoutMs: number },
): Promise<NearRow[]> {
    return runComposed<NearRow>(db, nearestFor(search), { ...valuesOf(search, filters), vector }, timeoutMs);
}

/** The words to search for, and for each tier the number of earlier results that skips it. */
function walksOf({ strict, loose, cost }: Candidates, filters: FindFilters): Record<string, unknown> {
    const scale = isNarrowed(filters) ? NARROWED_WALK : 1;
    const enoughFor = (walked: number) => (walked <= FEW_WALKED * scale ? FULL : walked <= MAX_WALKED * scale ? ENOUGH : 0);
    const [one, two, three] = UP_TO_TIER.map((share) => enoughFor(share * cost.loose));
    return {
        strict,
        loose: loose ?? (filters.site === undefined ? NOTHING : strict),
        enoughstrict: Math.max(ENOUGH, enoughFor(cost.strict)),
        enoughone: Math.max(ENOUGH, one ?? 0),
        enoughtwo: two,
        enoughthree: three,
    };
}

/** Whether there is a filter that the index does not contain: any but the site. */
function isNarrowed({ site: _site, isVerifiedOnly, ...others }: FindFilters): boolean {
    return isVerifiedOnly || Object.values(others).some((filter) => filter !== undefined);
}

const NARROWING_TYPES = { verified: 'boolean', connection: 'boolean', maxcredits: 'integer' } as const;
/** Arrays with an element for each term. */
const TERM_TYPES = { exact: 'tsquery[]', alike: 'tsquery[]', weight: 'real[]', exactwhole: 'float8[]', alikewhole: 'float8[]' } as const;
const RANKING_TYPES = {
    ...NARROWING_TYPES,
    ...TERM_TYPES,
    ...{ strict: 'tsquery', loose: 'tsquery', unknown: 'real', words: 'text[]' },
    ...{ enoughstrict: 'integer', enoughone: 'integer', enoughtwo: 'integer', enoughthree: 'integer' },
} as const;

/** A word that no endpoint has. */
const NOTHING = "'!none'";
const RANK = `'{${CLASS_WEIGHTS.D},${CLASS_WEIGHTS.C},${CLASS_WEIGHTS.B},${CLASS_WEIGHTS.A}}'::real[]`;
/** `ts_rank` divides by 1.6449341 and by the words of the query: one of two words gives two thirds of the rank of one alone. */
const wholeOf = (words: readonly string[]) => (1.6449341 * 2 * words.length) / (words.length + 1);

const NARROWED = `coalesce(e.intent_category = :category or split_part(e.intent_category, '/', 1) = :category, true)
        and coalesce(e.kind = :kind, true) and coalesce(e.effect = :effect, true) and (e.is_verified or not :verified)
        and (:connection is null or (e.search @@ '''${MARKS.needsConnection}'''::tsquery) = :connection)`;

/** What decides whether a policy excludes an endpoint; null without a policy. */
const POLICIES = `case when d.policy is not null or d.operator_policy is not null then (
                   select json_build_object('registrable', s.registrable, 'policy', d.policy, 'operatorPolicy', d.operator_policy,
                                            'effect', s.effect, 'versionId', s.version_id, 'entry', x.entry)
                   from endpoint_entries x where x.endpoint_id = s.id) end`;

/** Number of nearest neighbours. The farthest of them defines which distance counts as far. */
const NEIGHBOURS = 100;

const CANDIDATE = `e.id, e.site, e.registrable, e.name, e.is_verified, e.success_rate, e.p95_ms, e.effect, e.version_id, e.search, e.brevity,
                   e.needs_id, e.direction`;

/** In a database without vectors, the type and the table do not exist, so the statement fails. */
const NEAREST = `with candidates as materialized (
        select ${CANDIDATE}, 1 - (v.embedding <=> :vector::vector) as similarity
        from endpoint_vectors v cross join lateral (select * from endpoints where id = v.endpoint_id limit 1) as e
        where ${NARROWED} and coalesce(e.site = :site, true)
        order by v.embedding <=> :vector::vector limit ${NEIGHBOURS})`;

/** Composing and numbering a ranking for each find took 7 % of the API's time. */
const rankings = new Map<string, Composed>();

/** One statement for each number of terms, with and without a filter. The server plans each of them once per connection. */
function rankingFor({ terms }: Search, filters: FindFilters): Composed {
    const key = `${terms.length} ${isNarrowed(filters)} ${filters.site !== undefined}`;
    return getOrMake(rankings, key, () => {
        const text = `${rankingOf(terms.length, candidatesIn(filters))} and s.score >= ${THRESHOLD}`;
        return compose(text, RANKING_TYPES);
    });
}

/** The same for the nearest endpoints, whatever their score is. */
function nearestFor({ terms }: Search): Composed {
    return getOrMake(rankings, `nearest ${terms.length}`, () => {
        const text = `${rankingOf(terms.length, NEAREST, 'similarity')} order by s.similarity desc, s.id`;
        return compose(text, { ...RANKING_TYPES, vector: 'real[]' });
    });
}

/**
 * Scores candidates by their words. A null value is not part of the rank.
 * @param candidates common table expressions that end in `candidates` @param others columns of these to return
 */
function rankingOf(terms: number, candidates: string, ...others: string[]): string {
    const matchOf = (words: string, whole: string) => `least(1, coalesce(ts_rank(${RANK}, c.search, ${words}) * ${whole}, 0))`;
    const places = Array.from({ length: terms }, (_, index) => index + 1);
    const scores = places.map(
        (n) => `weight${n} * greatest(${matchOf(`exact${n}`, `exactwhole${n}`)}, ${ALIKE} * ${matchOf(`alike${n}`, `alikewhole${n}`)})`,
    );
    const asked = places.flatMap((n) => Object.keys(TERM_TYPES).map((name) => `${name}[${n}] as ${name}${n}`));
    return `
        ${candidates},
        given as materialized (select ${Object.keys(TERM_TYPES)
            .map((name) => `:${name} as ${name}`)
            .join(', ')}),
        asked as materialized (select ${asked.join(', ')} from given)
        select s.id, s.site, s.registrable, s.score, s.direction, s.is_verified as "isVerified", s.success_rate as "successRate",
               s.p95_ms as "p95Ms", d.credits, ${others.map((column) => `s.${column}, `).join('')}
               case when (select exists (select from find_choice_counts)) then coalesce((
                   select max(c.choices) from find_choice_counts c
                   where c.site = s.site and c.endpoint = s.name and c.word = any((:words)::text[])), 0) else 0 end as choices,
               ${POLICIES} as policies
        from (
            select c.id, c.site, c.registrable, c.name, c.is_verified, c.success_rate, c.p95_ms, c.effect, c.version_id,
                   c.direction, ${others.map((column) => `c.${column}, `).join('')}
                   least(1, (${scores.join(' + ') || '0'}) * c.brevity * case when c.needs_id then :unknown else 1 end) as score
            from candidates as c, asked offset 0
        ) as s
        join domains d on d.registrable = s.registrable
        where not d.is_blocked and coalesce(d.credits <= :maxcredits, true)`;
}

/** Common table expressions that end in `candidates`: by tier, and endpoints with nearly all words before those with some words. */
function candidatesIn(filters: FindFilters): string {
    const narrowed = isNarrowed(filters) ? `and ${NARROWED}` : '';
    const from = (...conditions: string[]) => `select ${CANDIDATE} from endpoints e where ${conditions.join(' and ')} ${narrowed}`;
    if (filters.site !== undefined) return `with candidates as (${from('e.site = :site', 'e.search @@ :loose')} limit ${MAX_SCORED})`;
    const atMost = (sources: readonly string[]) => `(select * from (${sources.join(' union all ')}) as e limit ${MAX_SCORED})`;
    const fewer = (than: string, ...tables: string[]) =>
        `${tables.map((table) => `(select count(*) from ${table})`).join(' + ')} < ${than}`;
    const tier = (number: number, query: string, ...conditions: string[]) =>
        from(...conditions, `e.tier = ${number}`, `e.search @@ ${query}`);
    const tables = ['first', 'second', 'third', 'fourth', 'fifth'];
    return `with first as materialized ${atMost([tier(0, ':strict'), tier(1, ':strict')])},
        second as materialized ${atMost([tier(2, ':strict', fewer(':enoughstrict', 'first'))])},
        third as materialized ${atMost([tier(0, ':loose', fewer(':enoughone', ...tables.slice(0, 2)))])},
        fourth as materialized ${atMost([tier(1, ':loose', fewer(':enoughtwo', ...tables.slice(0, 3)))])},
        fifth as materialized ${atMost([tier(2, ':loose', fewer(':enoughthree', ...tables.slice(0, 4)))])},
        candidates as ${atMost(tables.map((table) => `select * from ${table}`))}`;
}

function narrowingOf({ category, kind, effect, site, isVerifiedOnly, maxCredits, needsConnection }: FindFilters): Record<string, unknown> {
    return {
        category: category ?? null,
        kind: kind ?? null,
        effect: effect ?? null,
        site: site ?? null,
        verified: isVerifiedOnly,
        connection: needsConnection ?? null,
        maxcredits: maxCredits ?? null,
    };
}

function valuesOf(search: Search, filters: FindFilters): Record<string, unknown> {
    const { terms, isIdUnknown } = search;
    const queryOrNull = (words: readonly string[]) => (words.length === 0 ? null : queryOf(words));
    return {
        ...narrowingOf(filters),
        unknown: isIdUnknown ? ID_UNKNOWN : 1,
        words: memorableTaskWords(search),
        exact: terms.map(({ exact }) => queryOrNull(exact)),
        alike: terms.map(({ alike }) => queryOrNull(alike)),
        weight: terms.map(({ weight }) => weight),
        exactwhole: terms.map(({ exact }) => wholeOf(exact)),
        alikewhole: terms.map(({ alike }) => wholeOf(alike)),
    };
}
