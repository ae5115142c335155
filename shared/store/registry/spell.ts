import { type Search, spellings, typosAllowed } from '../../domain/search/search-text.ts';
import type { Db } from '../../platform/db.ts';
import { compose, runComposed } from '../../platform/prepared-query.ts';

/** For each term that is not the beginning of any word: the beginnings of words that may have been meant. */
export type Spelt = readonly (readonly [term: string, words: readonly string[]])[];

/** Maximum number of similar known words that are compared with a misspelled one, in the order in which they were added. */
const CANDIDATES = 150;
const MEANT = 10;
const TIMEOUT_MS = 5000;

const SIMILAR = compose(
    `select t.text, (select array_agg(word order by id) from (
                select w.id, w.word from search_words w where search_slips(array[w.word]) && search_slips(array[t.text])
                order by w.id limit ${CANDIDATES}) as near) as words
         from unnest(:terms) as t (text)
         where not exists (select from search_words w where w.word >= t.text and w.word < t.text || chr(1114111))`,
    { terms: 'text[]' },
);

/** Corrections for terms that begin no known word. The cursor keeps them, so that new words do not change later pages. */
export async function spell(db: Db, { terms }: Search): Promise<Spelt> {
    const long = terms.filter(({ text }) => typosAllowed(text) > 0).map(({ text }) => text);
    if (long.length === 0) return [];
    const rows = await runComposed<{ text: string; words: string[] | null }>(db, SIMILAR, { terms: long }, TIMEOUT_MS);
    return rows
        .map(({ text, words }) => [text, spellings(text, words ?? []).slice(0, MEANT)] as const)
        .filter(([, words]) => words.length > 0);
}
