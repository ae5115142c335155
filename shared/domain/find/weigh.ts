import { slipsAllowed } from '../search/search-text.ts';
import { editDistance } from '../text/edit-distance.ts';
import { MARKS } from './endpoint-words.ts';
import { type Phrases, unitsOf } from './phrases.ts';
import type { Task, TaskPart } from './task.ts';

/** One part of a task, as endpoints are searched for it. */
export interface Term {
    /** Counts fully: the word itself, or all that a phrase means. */
    exact: readonly string[];
    /** What the word means. */
    alike: readonly string[];
    /** Its share of the task; those of all terms are 1 together. */
    weight: number;
    /** Whether an endpoint may be listed for its sake. */
    isTelling: boolean;
}

/** What is looked for, and how much each of it counts. */
export interface Search {
    terms: readonly Term[];
    /** Endpoints that need an id count a little less. */
    isIdUnknown: boolean;
}

/** What is known of the words of all endpoints. */
export interface WordCounts {
    /** Endpoints. */
    total: number;
    /** How many have a word; of many only that they are many. */
    counts: ReadonlyMap<string, number>;
}

/** What an idea counts beside the word itself. */
export const ALIKE = 0.75;
/** How much a class of words (`WordClass`) counts. */
export const CLASS_WEIGHTS = { A: 1, B: 0.86, C: 0.7, D: 0.52 } as const;
/** An endpoint that needs an id nobody gave. */
export const ID_UNKNOWN = 0.9;

/** Found by trying on the labelled tasks (test/fixtures/tasks), the held out ones apart. */
export const WEIGHTS = {
    what: 0.75,
    /** What no endpoint has: then something else was meant. */
    whatMissing: 1.4,
    word: 0.33,
    wordMissing: 0.05,
    name: 0.05,
    nameMissing: 0.08,
    act: 0.46,
    where: 0.33,
    when: 0.11,
    how: 0.32,
    little: 0.14,
    takes: 0.073,
    mistyped: 0.75,
};

/** What a word says at least, whatever it is, and how the rest grows with its rarity. */
const LEAST_RARITY = 0.22;
const RARITY = 8;
/** As if so many more endpoints were there that have no word of the task: rarity means little among few. */
const SMOOTHING = 50;
const RARITY_OF_UNKNOWN = 5;

/** Parts whose words no endpoint has, as they are written: they may be mistyped. */
export function strangeWords({ parts }: Task, { counts }: WordCounts): string[] {
    return parts.flatMap(({ stem, ideas, kind }) => {
        const isStrange = kind === 'word' && stem !== undefined && ideas.length === 0 && !counts.get(stem);
        return isStrange && stem.length > 4 && slipsAllowed(stem) > 0 ? [stem] : [];
    });
}

/** What a strange word may have been meant to be. @param known words that resemble it */
export function meantBy(strange: string, known: readonly string[], dictionary: Phrases): TaskPart | undefined {
    const meant = nearest(strange, [...known, ...dictionary.stems]);
    if (meant === undefined) return undefined;
    const [unit] = unitsOf([meant], dictionary, 'task');
    if (unit === undefined) return undefined;
    const kind = dictionary.little.has(meant) ? 'little' : unit.ideas.length > 0 ? 'what' : 'word';
    return { stem: meant, ideas: unit.ideas, kind };
}

/** Whole words that are few slips away; the first letter is hardly ever mistyped. Of equals the one that has most of it in place. */
function nearest(written: string, known: readonly string[]): string | undefined {
    const allowed = slipsAllowed(written);
    let best: { word: string; distance: number; inPlace: number } | undefined;
    for (const word of known) {
        if (word[0] !== written[0] || Math.abs(word.length - written.length) > allowed) continue;
        const distance = editDistance(written, word, allowed);
        if (distance > allowed || distance > (best?.distance ?? allowed)) continue;
        const inPlace = commonEnds(written, word);
        if (best === undefined || distance < best.distance || inPlace > best.inPlace) best = { word, distance, inPlace };
    }
    return best?.word;
}

/** Characters that two words have in common at their beginnings and ends. */
function commonEnds(one: string, other: string): number {
    let begin = 0;
    while (begin < one.length && one[begin] === other[begin]) begin++;
    let end = 0;
    while (end < one.length - begin && one.at(-1 - end) === other.at(-1 - end)) end++;
    return begin + end;
}

/** What to look for. @param meant by strange word */
export function weigh({ parts, hasNumber }: Task, words: WordCounts, meant: ReadonlyMap<string, TaskPart> = new Map()): Search {
    const weighed = parts.map((part) => {
        const correction = meant.get(part.stem ?? '');
        const { term, kind } = termOf(correction ?? part, words);
        return { kind, ...term, weight: term.weight * (correction === undefined ? 1 : WEIGHTS.mistyped) };
    });
    const hasValue = weighed.some(({ kind }) => kind === 'name' || kind === 'where' || kind === 'wordMissing');
    const takes = { exact: [MARKS.takes], alike: [], weight: WEIGHTS.takes, isTelling: false };
    const terms = hasValue ? [...weighed, takes] : weighed;
    const total = terms.reduce((sum, { weight }) => sum + weight, 0);
    const isAnyTelling = terms.some(({ isTelling }) => isTelling);
    return {
        terms: terms.map(({ exact, alike, weight, isTelling }) => ({
            exact,
            alike,
            weight: weight / total,
            isTelling: isTelling || !isAnyTelling,
        })),
        isIdUnknown: !hasNumber,
    };
}

function termOf({ stem, ideas, kind }: TaskPart, words: WordCounts) {
    const own = stem === undefined ? [] : [stem];
    const all = [...own, ...ideas];
    const rarest = Math.max(...all.map((word) => rarityOf(word, words)));
    const isMissing = !all.some((word) => words.counts.get(word));
    const base = isMissing && (kind === 'what' || kind === 'word' || kind === 'name') ? WEIGHTS[`${kind}Missing`] : WEIGHTS[kind];
    const weight = base * Math.min(1, LEAST_RARITY + rarest / RARITY);
    const [exact, alike] = kind === 'act' || own.length === 0 ? [all, []] : [own, ideas];
    const isTelling = !isMissing && (kind === 'what' || kind === 'word' || kind === 'name');
    return { term: { exact, alike, weight, isTelling }, kind: isMissing && kind === 'word' ? ('wordMissing' as const) : kind };
}

function rarityOf(word: string, { total, counts }: WordCounts): number {
    const count = counts.get(word);
    return count ? Math.log(1 + (total + SMOOTHING) / (count + 1)) : RARITY_OF_UNKNOWN;
}
