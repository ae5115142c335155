import { MAX_BREVITY } from './endpoint-words.ts';
import type { Search, Term, WordCounts } from './weigh.ts';

/** Queries that preselect endpoints: by nearly all significant terms, and by enough to reach the threshold. No others are read. */
export interface Candidates {
    /** Matches nearly all significant terms, by weight. */
    strict: string;
    /** Matches enough terms to reach the threshold. Undefined if `strict` finds the same. */
    loose: string | undefined;
    /** Estimated number of index entries that each query reads. */
    cost: { strict: number; loose: number };
}

/** The lowest score by words of endpoints that are read. */
export const THRESHOLD = 0.36;
/** The lowest score with nearness in meaning of endpoints that are listed. */
export const LEAST_LISTED = 0.32;

/** Maximum number of significant terms in the queries. Other terms only affect the score. */
const MAX_COMBINED = 6;

const NEARLY_ALL = 0.8;

/** Builds the queries; undefined if the task has no significant term. */
export function candidatesOf({ terms }: Search, { counts }: WordCounts): Candidates | undefined {
    const combined = terms
        .filter(({ isTelling }) => isTelling)
        .toSorted((a, b) => b.weight - a.weight)
        .slice(0, MAX_COMBINED)
        .map((term) => {
            const words = wordsToFind(term, counts);
            return { weight: term.weight, query: queryOf(words), count: countOf(words, counts) };
        });
    if (combined.length === 0) return undefined;
    const weights = combined.map(({ weight }) => weight);
    const telling = weights.reduce((sum, weight) => sum + weight, 0);
    const others = 1 - telling;
    const enough = leastSets(weights, THRESHOLD / MAX_BREVITY - others);
    if (enough.length === 0) return undefined;
    const nearlyAll = leastSets(weights, NEARLY_ALL * telling);
    const anyOf = (sets: readonly number[][]) =>
        oneOf(
            sets,
            combined.map(({ query }) => query),
        );
    const counted = combined.map(({ count }) => count);
    const [strict, loose] = [anyOf(nearlyAll), anyOf(enough)];
    return {
        strict,
        loose: loose === strict ? undefined : loose,
        cost: { strict: costOf(counted, nearlyAll), loose: costOf(counted, enough) },
    };
}

/** A query for any of these words. Words need no escaping. */
export function queryOf(words: readonly string[]): string {
    return words.length === 1 ? `'${words[0]}'` : `(${words.map((word) => `'${word}'`).join(' | ')})`;
}

export function wordsOf({ exact, alike }: Term): string[] {
    return [...exact, ...alike];
}

/** The words by which a term is searched: for a common term whose exact word is covered only alike words, with half the entries. */
function wordsToFind(term: Term, counts: ReadonlyMap<string, number>): readonly string[] {
    const words = wordsOf(term);
    return term.isCovered && countOf(words, counts) > COMMON ? term.alike : words;
}

const COMMON = 1000;

function countOf(words: readonly string[], counts: ReadonlyMap<string, number>): number {
    return words.reduce((sum, word) => sum + (counts.get(word) ?? 0), 0);
}

/** A query for all words of at least one set. The server evaluates all of it for each entry, so common words are written once. */
function oneOf(sets: readonly number[][], queries: readonly string[]): string {
    const shared = (sets[0] ?? []).filter((place) => sets.every((set) => set.includes(place)));
    const others = sets.map((set) => set.filter((place) => !shared.includes(place))).filter((set) => set.length > 0);
    const allOf = (set: readonly number[]) => set.map((place) => queries[place]).join(' & ');
    const either = others.map((set) => (set.length === 1 ? allOf(set) : `(${allOf(set)})`)).join(' | ');
    if (shared.length === 0) return either;
    return others.length === 0 ? allOf(shared) : `${allOf(shared)} & (${either})`;
}

/** The minimal sets of indices whose weights reach `least`: no set contains another. */
function leastSets(weights: readonly number[], least: number): number[][] {
    const found: number[][] = [];
    const all = Array.from({ length: 2 ** weights.length - 1 }, (_, index) => index + 1).map((bits) =>
        weights.flatMap((_weight, place) => (bits & (1 << place) ? [place] : [])),
    );
    for (const set of all.toSorted((a, b) => a.length - b.length)) {
        if (set.reduce((sum, place) => sum + (weights[place] ?? 0), 0) < least) continue;
        if (!found.some((smaller) => smaller.every((place) => set.includes(place)))) found.push(set);
    }
    return found;
}

/** Estimates the number of index entries to read: those of the rarest terms such that every set contains one of them. */
function costOf(counts: readonly number[], sets: readonly number[][]): number {
    const commonFirst = counts.map((_, place) => place).toSorted((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
    const skipped = new Set<number>();
    for (const place of commonFirst) {
        skipped.add(place);
        if (sets.some((set) => set.every((one) => skipped.has(one)))) {
            skipped.delete(place);
            break;
        }
    }
    return counts.reduce((sum, count, place) => (skipped.has(place) ? sum : sum + count), 0);
}
