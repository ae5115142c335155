import { SEARCH_RULES, searchEntry } from '../../domain/search/search-text.ts';
import type { Db } from '../../platform/db.ts';

/** The search index of a site. Call it in the transaction that writes the site's title. */

const CHUNK = 500;
/** Minimum length of a word that a typing error may be matched with, in characters. */
const MIN_CHARACTERS = 3;

/** Indexes these sites by these titles. Sites that do not exist, or have another title, are skipped. */
export async function indexSites(db: Db, named: readonly { site: string; title: string }[]): Promise<void> {
    for (let from = 0; from < named.length; from += CHUNK) {
        const entries = named.slice(from, from + CHUNK).map(({ site, title }) => ({ site, title, ...searchEntry(site, title) }));
        await db.raw(
            `update sites s set label = e.label, search = array_to_tsvector(e.lexemes), search_rules = ?
             from json_to_recordset(?::json) as e (site text, title text, label text, lexemes text[]) where s.site = e.site and s.title = e.title`,
            [SEARCH_RULES, JSON.stringify(entries)],
        );
        const words = entries.flatMap(({ lexemes }) => lexemes);
        await addWords(db, words);
    }
}

/** Indexes new sites and those of earlier rules. Resolves with their number. Any number of processes may run it. */
export async function indexOldSites(db: Db): Promise<number> {
    for (let indexed = 0; ; ) {
        const rows: { site: string; title: string }[] = await db('sites')
            .whereNot({ search_rules: SEARCH_RULES })
            .orderBy('site')
            .limit(CHUNK)
            .select('site', 'title');
        if (rows.length === 0) return indexed;
        await indexSites(db, rows);
        indexed += rows.length;
    }
}

/** Words are never removed, so that positions in a list stay stable. */
export async function addWords(db: Db, lexemes: readonly string[]): Promise<void> {
    // A fixed order prevents deadlocks between two sites that add the same words.
    const words = [...new Set(lexemes)].filter((word) => [...word].length >= MIN_CHARACTERS).toSorted();
    await db.raw('insert into search_words (word) select unnest(?::text[]) on conflict do nothing', [words]);
}

/** Adds the pending counts of publishing to the totals. Returns the number of rows. */
export async function addTallies(db: Db): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ taken: number }] }>(
        `with taken as (delete from site_tallies returning *), kept as (
             insert into site_tallies select intent_category, is_verified, sum(sites) from taken group by 1, 2 having sum(sites) <> 0
         )
         select count(*) as taken from taken`,
    );
    return rows[0].taken;
}
