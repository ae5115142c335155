import { typosAllowed } from '../search/search-text.ts';
import { editDistance } from '../text/edit-distance.ts';
import { MARKS, takesMark } from './endpoint-words.ts';
import type { Phrases } from './phrases.ts';
import type { Task, TaskPart } from './task.ts';

/** A search term, made from a part of a task. */
export interface Term {
    /** Words that count fully: the word itself, or the ideas of a phrase. */
    exact: readonly string[];
    /** Ideas of the word, which count less. */
    alike: readonly string[];
    /** Its share of the score; the weights of all terms add up to 1. */
    weight: number;
    /** Whether a match of this term alone can list an endpoint. */
    isTelling: boolean;
    /** Whether nearly all endpoints that have the exact word have an alike one, too. */
    isCovered: boolean;
}

export interface Search {
    terms: readonly Term[];
    /** The task has no id, so endpoints that need one score slightly lower. */
    isIdUnknown: boolean;
    /** The task asks for something of the caller's own, which only a site where they have an account knows. */
    isOwn: boolean;
}

/** The words of a task that may be stored: significant words of endpoints, never names, numbers or values. */
export function memorableTaskWords({ terms }: Search): string[] {
    const words = terms.filter(({ isTelling }) => isTelling).flatMap(({ exact }) => exact);
    return [...new Set(words)].filter((word) => /^~?[\p{L}-]+$/u.test(word));
}

/** Word statistics over all endpoints. */
export interface WordCounts {
    total: number;
    /** Number of endpoints per word. Large counts are capped. */
    counts: ReadonlyMap<string, number>;
}

/** Weight of an idea relative to the word itself. */
export const ALIKE = 0.78;
/** Words of the site weigh like those of fields, since many endpoints say little about themselves. Above the limit of words they go first. */
export const CLASS_WEIGHTS = { A: 1, B: 0.81, C: 0.5, D: 0.5 } as const;
/** Factor for endpoints that need an id if the task has none. */
export const ID_UNKNOWN = 0.87;

/** Tuned on the labelled tasks (test/fixtures/tasks) without the held-out set. */
const WEIGHTS = {
    what: 0.57,
    /** Weight of a word of this kind that no endpoint has. It is high, because the registry then lacks what the task asks for. */
    whatMissing: 1.3,
    word: 0.26,
    wordMissing: 0.02,
    /** Of an English word that no endpoint has. Before the first preposition it probably names what is asked for. */
    englishMissing: 0.16,
    englishMissingInTail: 0.02,
    name: 0.09,
    nameMissing: 0.2,
    act: 0.7,
    where: 0.36,
    when: 0.35,
    how: 0.46,
    little: 0.19,
    /** Weight of a word of another kind that no endpoint has. It distinguishes no endpoints. */
    otherMissing: 0.01,
    takes: 0.035,
    /** Weight of a number that may be an id. */
    id: 0.06,
    /** Weight of taking what the task gives: `address` in "address to coordinates". */
    given: 0.06,
    /** Factor for words after the first preposition. */
    tail: 0.83,
    /** Factor for parts that only repeat ideas. */
    repeated: 0.68,
    mistyped: 0.6,
};

/** The base weight of any word, and the divisor of its rarity. */
const MIN_RARITY = 0.22;
const RARITY = 8;
/** Added to the total number of endpoints, because rarity means little among few endpoints. */
const SMOOTHING = 50;
const RARITY_OF_UNKNOWN = 5;

/** Stems that no endpoint has and that may be typos. */
export function unknownWords({ parts }: Task, { counts }: WordCounts): string[] {
    return parts.flatMap(({ stem, ideas, kind, isEnglish }) => {
        const isStrange = kind === 'word' && isEnglish !== true && stem !== undefined && ideas.length === 0 && !counts.get(stem);
        return isStrange && stem.length > 4 && typosAllowed(stem) > 0 ? [stem] : [];
    });
}

/** The correction of a possible typo: the nearest of the `known` words with its first letter, then with most letters in place. */
export function correctTypo(written: string, known: readonly string[], dictionary: Phrases): string | undefined {
    const allowed = written.length < LONG ? Math.min(1, typosAllowed(written)) : typosAllowed(written);
    let best: { word: string; distance: number; inPlace: number } | undefined;
    for (const word of [...known, ...dictionary.stems]) {
        if (word[0] !== written[0] || Math.abs(word.length - written.length) > allowed) continue;
        const distance = editDistance(written, word, allowed);
        if (distance > allowed || distance > (best?.distance ?? allowed)) continue;
        const inPlace = commonEnds(written, word);
        if (best === undefined || distance < best.distance || inPlace > best.inPlace) best = { word, distance, inPlace };
    }
    return best?.word;
}

/** From this length on, a word may contain two typos. */
const LONG = 10;

/** The length of the common prefix and suffix of two words. */
function commonEnds(one: string, other: string): number {
    let begin = 0;
    while (begin < one.length && one[begin] === other[begin]) begin++;
    let end = 0;
    while (end < one.length - begin && one.at(-1 - end) === other.at(-1 - end)) end++;
    return begin + end;
}

/** Weighs the parts of a task. @param corrected stems that were corrected */
export function weigh(
    { parts, hasNumber, hasValue: isValueGiven, hasId, isOwn, given }: Task,
    words: WordCounts,
    corrected: ReadonlySet<string> = new Set(),
): Search {
    const counted = new Set<string>();
    const weighed = parts.map((part) => {
        const { term, kind } = termOf(part, words);
        const isRepeated = part.ideas.length > 0 && part.ideas.every((idea) => counted.has(idea));
        for (const idea of part.ideas) counted.add(idea);
        const share =
            (isRepeated ? WEIGHTS.repeated : 1) *
            (part.isTail ? WEIGHTS.tail : 1) *
            (corrected.has(part.stem ?? '') ? WEIGHTS.mistyped : 1);
        return { kind, ...term, weight: term.weight * share };
    });
    const hasValue = isValueGiven || weighed.some(({ kind }) => kind === 'name' || kind === 'where' || kind === 'wordMissing');
    const marked = (marks: readonly string[], weight: number) => ({ exact: marks, alike: [], weight, isTelling: false, isCovered: false });
    const terms = [
        ...weighed,
        ...(hasValue ? [marked([MARKS.takes], WEIGHTS.takes)] : []),
        ...(hasId ? [marked([MARKS.needsId], WEIGHTS.id)] : []),
        ...(given.length > 0 ? [marked([...new Set(given)].map(takesMark), WEIGHTS.given)] : []),
    ];
    const total = terms.reduce((sum, { weight }) => sum + weight, 0);
    // If no part that endpoints have is significant, the search uses the ideas that they have: `mean` in "what does obsessed mean".
    const saysLittle = !weighed.some(({ isTelling, kind }) => isTelling || kind === 'act');
    return {
        terms: terms.map(({ exact, alike, weight, isTelling, isCovered }) => ({
            exact,
            alike,
            weight: weight / total,
            isTelling: isTelling || (saysLittle && [...exact, ...alike].some((word) => word.startsWith('~') && words.counts.get(word))),
            isCovered,
        })),
        isIdUnknown: !hasNumber,
        isOwn,
    };
}

const SAYING: ReadonlySet<TaskPart['kind']> = new Set(['what', 'word', 'name', 'act']);

function termOf({ stem, ideas, kind, isSubject, isEnglish, isTail, isCovered }: TaskPart, words: WordCounts) {
    const own = stem === undefined ? [] : [stem];
    const all = [...own, ...ideas];
    const rarest = Math.max(...all.map((word) => rarityOf(word, words)));
    const isMissing = !all.some((word) => words.counts.get(word));
    const isEnglishMissing = isMissing && kind === 'word' && isEnglish === true && isSubject !== true;
    const base = isEnglishMissing
        ? WEIGHTS[isTail ? 'englishMissingInTail' : 'englishMissing']
        : baseOf(kind, { isMissing, isSubject: isSubject === true });
    const weight = base * Math.min(1, MIN_RARITY + rarest / RARITY);
    const [exact, alike] = own.length === 0 ? [ideas, []] : [own, ideas];
    // An act without a stem only says that something is to be changed, not what.
    const isTelling = !isMissing && SAYING.has(kind) && (kind !== 'act' || stem !== undefined);
    return {
        term: { exact, alike, weight, isTelling, isCovered: isCovered === true },
        kind: isMissing && kind === 'word' ? ('wordMissing' as const) : kind,
    };
}

/** The base weight of a part. A subject that no endpoint names is a value. */
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
