import { type Search, slipsAllowed, spellings } from '../../domain/search/search-text.ts';
import type { Db } from '../../platform/db.ts';
import { runComposed } from '../../platform/prepared-query.ts';

/** For each term that begins no word at all: beginnings of words that it may have been meant to be. */
export type Spelt = readonly (readonly [term: string, words: readonly string[]])[];

/** The most similar known words that are compared with a mistyped one, the longest known first. */
const CANDIDATES = 150;
const MEANT = 10;
const TIMEOUT_MS = 5000;

/**
 * What the terms that begin no word at all may have been meant to be. Part of the place in a list: a word that comes up during a walk
 * changes nothing of what the walk finds.
 */
export async function spell(db: Db, { terms }: Search): Promise<Spelt> {
    const long = terms.filter(({ text }) => slipsAllowed(text) > 0);
    if (long.length === 0) return [];
    const text = `select t.text, (select array_agg(word order by id) from (
                select w.id, w.word from search_words w where search_slips(array[w.word]) && search_slips(array[t.text])
                order by w.id limit ${CANDIDATES}) as near) as words
         from unnest(:terms) as t (text)
         where not exists (select from search_words w where w.word >= t.text and w.word < t.text || chr(1114111))`;
    const values = { terms: long.map((term) => term.text) };
    const rows = await runComposed<{ text: string; words: string[] | null }>(db, { text, values, types: { terms: 'text[]' } }, TIMEOUT_MS);
    return rows
        .map(({ text, words }) => [text, spellings(text, words ?? []).slice(0, MEANT)] as const)
        .filter(([, words]) => words.length > 0);
}
