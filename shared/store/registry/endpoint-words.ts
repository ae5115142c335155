import { LRUCache } from 'lru-cache';
import { queryOf } from '../../domain/find/candidates.ts';
import type { WordCounts } from '../../domain/find/weigh.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { Read } from '../../platform/replica.ts';

/** Counts of at least this size are cached. */
const COMMON = 64;
/**
 * With at least this many endpoints, all counts except 0 are cached, because rare words then have similar weights, and those of common
 * words are read in advance. Otherwise 69 of the first 100 finds of a process wait for counts instead of 21.
 */
const MANY = 50_000;
const REMEMBERED = 20_000;
const FRESH_MS = 3_600_000;
const TIMEOUT_MS = 2000;

/** Counts the endpoints that contain a word, with a cache. @param read must limit the time of queries */
export function createEndpointWordCounts(read: Read) {
    const common = new LRUCache<string, number>({ max: REMEMBERED, ttl: FRESH_MS });
    let commonReadAt = Number.NEGATIVE_INFINITY;

    async function readCommon(): Promise<void> {
        commonReadAt = performance.now();
        const [row] = await read((db) => runPrepared<{ counts: Record<string, number> }>(db, COMMON_COUNTS, [], TIMEOUT_MS));
        for (const [word, count] of Object.entries(row?.counts ?? {})) common.set(word, count);
    }

    return {
        /** Counts of these words. Counts of common words are estimates, and up to an hour old. */
        async count(words: readonly string[]): Promise<WordCounts> {
            const counts = new Map<string, number>();
            const unknown: string[] = [];
            for (const word of new Set(words)) {
                const known = common.get(word);
                if (known === undefined) unknown.push(word);
                else counts.set(word, known);
            }
            const total = common.get(TOTAL);
            if (unknown.length === 0 && total !== undefined) return { total, counts };
            const values = [unknown.map((word) => queryOf([word])), total ?? null];
            const rows = await read((db) => runPrepared<{ total: number; counts: number[] }>(db, COUNTS, values, TIMEOUT_MS));
            const found = rows[0] ?? { total: 0, counts: [] };
            for (const [place, word] of unknown.entries()) {
                const count = found.counts[place] ?? 0;
                counts.set(word, count);
                if (count >= COMMON || (count > 0 && found.total >= MANY)) common.set(word, count);
            }
            if (found.total >= COMMON) common.set(TOTAL, found.total);
            if (found.total >= MANY && performance.now() - commonReadAt > FRESH_MS) readCommon().catch(() => undefined);
            return { total: found.total, counts };
        },
        /** For each unknown word, the known words whose beginning differs from it by one typing error. */
        async resembling(strange: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
            if (strange.length === 0) return new Map();
            const rows = await read((db) => runPrepared<{ strange: string; words: string[] }>(db, RESEMBLING, [strange], TIMEOUT_MS));
            return new Map(rows.map((row) => [row.strange, row.words]));
        },
    };
}

/** The key of the total. No word is empty. */
const TOTAL = '';

/**
 * Estimates the count of a word from a tier that has many endpoints with it: the first tier has one endpoint of 64, the second one of 8.
 * Other words are counted. Above 20,000, the total number of endpoints comes from the statistics of PostgreSQL.
 */
const COUNTS: PreparedQuery = {
    name: 'endpoint_word_counts',
    text: `select array(
            select case
                when one.n >= 8 then one.n * 64
                when two.n >= 8 then two.n * 8
                else one.n + two.n + (select count(*) from endpoints e where e.tier = 2 and e.search @@ asked.word::tsquery) end
            from unnest((select $1::text[])) with ordinality as asked (word, place)
            cross join lateral (select count(*) as n from endpoints e where e.tier = 0 and e.search @@ asked.word::tsquery) as one
            cross join lateral (select count(*) as n from endpoints e
                                where one.n < 8 and e.tier = 1 and e.search @@ asked.word::tsquery) as two
            order by asked.place)::double precision[] as counts,
        coalesce((select $2::double precision), (
            select case when sum(c.reltuples) > 20000 then sum(c.reltuples)::double precision
                        else (select count(*) from endpoints)::double precision end
            from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'endpoints'::regclass)) as total`,
};

/** The same estimates of all words that the first tier has often: 0.4 s with a million endpoints. */
const COMMON_COUNTS: PreparedQuery = {
    name: 'endpoint_common_word_counts',
    text: `select json_object_agg(word, ndoc * 64) as counts
        from (select word, ndoc from ts_stat('select search from endpoints where tier = 0') where ndoc >= 8
              order by ndoc desc limit ${REMEMBERED / 2}) as common`,
};

/** Selects known words that resemble an unknown word, at most 150, in the order in which they were added. */
const RESEMBLING: PreparedQuery = {
    name: 'endpoint_words_resembling',
    text: `select asked.word as strange, array(
            select w.word from endpoint_words w where search_slips(array[w.word]) && search_slips(array[asked.word]) order by w.id limit 150
        ) as words
        from unnest((select $1::text[])) as asked (word)`,
};
