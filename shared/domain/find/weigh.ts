import { slipsAllowed } from '../search/search-text.ts';
import { editDistance } from '../text/edit-distance.ts';
import { MARKS } from './endpoint-words.ts';
import type { Phrases } from './phrases.ts';
import type { Task, TaskPart } from './task.ts';

/** One part of a task, as endpoints are searched for it. */
export interface Term {
    /** Counts fully: the word itself, or all that a phrase means. */
    exact: readonly string[];
    /** What the word means. */
    alike: readonly string[];
    /** Its share of the task; those of all terms are 1 together. */
    weight: number;
    /** Whether this term alone is reason to list an endpoint. */
    isTelling: boolean;
}

/** What is looked for, and how much each of it counts. */
export interface Search {
    terms: readonly Term[];
    /** Endpoints that need an id count a little less. */
    isIdUnknown: boolean;
    /** Endpoints that take no value count a little less. */
    hasValue: boolean;
}

/** What may be remembered of a task: the words of endpoints that tell it from others, never a name, a number or a value. */
export function memorableTaskWords({ terms }: Search): string[] {
    const words = terms.filter(({ isTelling }) => isTelling).flatMap(({ exact }) => exact);
    return [...new Set(words)].filter((word) => /^~?[\p{L}-]+$/u.test(word));
}

/** What is known of the words of all endpoints. */
export interface WordCounts {
    /** Endpoints. */
    total: number;
    /** How many have a word; of many only that they are many. */
    counts: ReadonlyMap<string, number>;
}

/** What an idea counts beside the word itself. */
export const ALIKE = 0.78;
/** How much a class of words (`WordClass`) counts. */
export const CLASS_WEIGHTS = { A: 1, B: 0.81, C: 0.5, D: 0.39 } as const;
/** An endpoint that needs an id nobody gave. */
export const ID_UNKNOWN = 0.87;
/** An endpoint that takes no value where the task gives one. */
export const VALUE_UNUSED = 0.97;

/** Found by trying on the labelled tasks (test/fixtures/tasks), the held out ones apart. */
export const WEIGHTS = {
    what: 0.57,
    /** What no endpoint has: then something else was meant. */
    whatMissing: 1.3,
    word: 0.26,
    wordMissing: 0.02,
    /** An English word that no endpoint has: before the first preposition it is rather what is wanted than a value. */
    englishMissing: 0.16,
    englishMissingInTail: 0.02,
    name: 0.09,
    nameMissing: 0.2,
    act: 0.7,
    where: 0.36,
    when: 0.35,
    how: 0.46,
    little: 0.19,
    /** What says how, when, or little, and no endpoint has: it tells none from another. */
    otherMissing: 0.01,
    takes: 0.035,
    /** A number that may be an id. */
    id: 0.06,
    /** What is written with a capital within the sentence names something rather than says it. */
    capital: 1,
    /** What stands behind the first preposition. */
    tail: 0.83,
    /** What says again what was said. */
    repeated: 0.68,
    mistyped: 0.6,
};

/** What a word says at least, whatever it is, and how the rest grows with its rarity. */
const LEAST_RARITY = 0.22;
const RARITY = 8;
/** As if so many more endpoints were there that have no word of the task: rarity means little among few. */
const SMOOTHING = 50;
const RARITY_OF_UNKNOWN = 5;

/** Parts whose words no endpoint has, as they are written: they may be mistyped. */
export function strangeWords({ parts }: Task, { counts }: WordCounts): string[] {
    return parts.flatMap(({ stem, ideas, kind, isEnglish }) => {
        const isStrange = kind === 'word' && isEnglish !== true && stem !== undefined && ideas.length === 0 && !counts.get(stem);
        return isStrange && stem.length > 4 && slipsAllowed(stem) > 0 ? [stem] : [];
    });
}

/** The stem that a strange word may have been meant to be. @param known words that resemble it */
export function meantBy(strange: string, known: readonly string[], dictionary: Phrases): string | undefined {
    return nearest(strange, [...known, ...dictionary.stems]);
}

/** Whole words that are few slips away; the first letter is hardly ever mistyped. Of equals the one that has most of it in place. */
function nearest(written: string, known: readonly string[]): string | undefined {
    const allowed = written.length < LONG ? Math.min(1, slipsAllowed(written)) : slipsAllowed(written);
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

/** Words from here on may have two slips. */
const LONG = 10;

/** Characters that two words have in common at their beginnings and ends. */
function commonEnds(one: string, other: string): number {
    let begin = 0;
    while (begin < one.length && one[begin] === other[begin]) begin++;
    let end = 0;
    while (end < one.length - begin && one.at(-1 - end) === other.at(-1 - end)) end++;
    return begin + end;
}

/** What to look for. @param corrected stems that were mistyped */
export function weigh(
    { parts, hasNumber, hasValue: isValueGiven, hasId }: Task,
    words: WordCounts,
    corrected: ReadonlySet<string> = new Set(),
): Search {
    const said = new Set<string>();
    const weighed = parts.map((part) => {
        const { term, kind } = termOf(part, words);
        const isRepeated = part.ideas.length > 0 && part.ideas.every((idea) => said.has(idea));
        for (const idea of part.ideas) said.add(idea);
        const share =
            (isRepeated ? WEIGHTS.repeated : 1) *
            (part.isCapital && part.kind === 'what' ? WEIGHTS.capital : 1) *
            (part.isTail ? WEIGHTS.tail : 1) *
            (corrected.has(part.stem ?? '') ? WEIGHTS.mistyped : 1);
        return { kind, ...term, weight: term.weight * share };
    });
    const hasValue = isValueGiven || weighed.some(({ kind }) => kind === 'name' || kind === 'where' || kind === 'wordMissing');
    const marked = (mark: string, weight: number) => ({ exact: [mark], alike: [], weight, isTelling: false });
    const terms = [
        ...weighed,
        ...(hasValue ? [marked(MARKS.takes, WEIGHTS.takes)] : []),
        ...(hasId ? [marked(MARKS.needsId, WEIGHTS.id)] : []),
    ];
    const total = terms.reduce((sum, { weight }) => sum + weight, 0);
    // A task of words that say little is looked for by them.
    const saysLittle = !parts.some(({ kind }) => SAYING.has(kind));
    return {
        terms: terms.map(({ exact, alike, weight, isTelling }) => ({
            exact,
            alike,
            weight: weight / total,
            isTelling: isTelling || saysLittle,
        })),
        isIdUnknown: !hasNumber,
        hasValue,
    };
}

const SAYING: ReadonlySet<TaskPart['kind']> = new Set(['what', 'word', 'name', 'act']);

function termOf({ stem, ideas, kind, isSubject, isEnglish, isTail }: TaskPart, words: WordCounts) {
    const own = stem === undefined ? [] : [stem];
    const all = [...own, ...ideas];
    const rarest = Math.max(...all.map((word) => rarityOf(word, words)));
    const isMissing = !all.some((word) => words.counts.get(word));
    const isEnglishMissing = isMissing && kind === 'word' && isEnglish === true && isSubject !== true;
    const base = isEnglishMissing
        ? WEIGHTS[isTail ? 'englishMissingInTail' : 'englishMissing']
        : baseOf(kind, { isMissing, isSubject: isSubject === true });
    const weight = base * Math.min(1, LEAST_RARITY + rarest / RARITY);
    const [exact, alike] = own.length === 0 ? [ideas, []] : [own, ideas];
    // That something shall be changed says nothing of what.
    const isTelling = !isMissing && SAYING.has(kind) && (kind !== 'act' || stem !== undefined);
    return { term: { exact, alike, weight, isTelling }, kind: isMissing && kind === 'word' ? ('wordMissing' as const) : kind };
}

/** A subject that no endpoint names is a value. */
function baseOf(kind: TaskPart['kind'], { isMissing, isSubject }: { isMissing: boolean; isSubject: boolean }): number {
    if (!isMissing) return WEIGHTS[kind];
    if (kind === 'act') return WEIGHTS.whatMissing;
    if (kind === 'how' || kind === 'when' || kind === 'little') return WEIGHTS.otherMissing;
    if (kind !== 'what' && kind !== 'word' && kind !== 'name') return WEIGHTS[kind];
    return isSubject ? WEIGHTS.wordMissing : WEIGHTS[`${kind}Missing`];
}

function rarityOf(word: string, { total, counts }: WordCounts): number {
    const count = counts.get(word);
    return count ? Math.log(1 + (total + SMOOTHING) / (count + 1)) : RARITY_OF_UNKNOWN;
}
