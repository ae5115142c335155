import { stemsOf } from '../search/tokens.ts';
import { foldCase, withoutAccents, wordsOf } from '../text/fold-text.ts';
import { LONGEST_WORD, MARKS } from './endpoint-words.ts';
import { type IdeaKind, type Phrases, unitsOf } from './phrases.ts';

/** One thing that a task says. */
export interface TaskPart {
    /** The stem of a single word; undefined for a phrase, which counts by its ideas alone. */
    stem: string | undefined;
    ideas: readonly string[];
    /** `name`: written with a capital within the sentence; `act`: what shall be done, where that is more than finding out. */
    kind: IdeaKind | 'little' | 'name' | 'word' | 'act';
    /** It names a subject (books about it): a value to search for, not a thing to find. */
    isSubject?: true;
    /** It is written with a capital within the sentence. */
    isCapital?: true;
    /** It stands behind the first preposition: it says more of what the words before it name. */
    isTail?: true;
    /** It is a common English word: no name, and not mistyped. */
    isEnglish?: true;
}

/** A task, read with the dictionary. */
export interface Task {
    parts: readonly TaskPart[];
    /** It has digits, or speaks of a number: an endpoint that needs an id may be meant. */
    hasNumber: boolean;
    /** It holds a value: a quotation, or the name of something. */
    hasValue: boolean;
    /** It has a number as ids are. */
    hasId: boolean;
}

/** Parts of a task that count; each costs time. */
const MOST_PARTS = 16;

/** What values look like that name their own kind. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
    [/\b97[89]\d{10}\b/, '~isbn'],
    [/\b\d{12,13}\b/, '~barcode'],
    [/\b10\.\d{4,9}\/\S+/, '~doi'],
    [/\b\d{4}\.\d{4,5}\b/, '~paper'],
    [/\b(?:CVE-\d|GHSA-)[\w-]+/i, '~vulnerability'],
    [/-?\b\d{1,3}\.\d+,\s*-?\d{1,3}\.\d+/, '~coordinates'],
    [/\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/, '~ip-address'],
    [/\b\d+\.\d+(?:\.\d+)?\b/, '~version'],
    [/(?<![\w&])#\p{L}[\p{L}\p{N}_]*/u, '~hashtag'],
    [/(?<!\S)@\w+/, '~profile'],
    [/\b(?=[A-HJ-NPR-Z]*\d)(?=\d*[A-HJ-NPR-Z])[A-HJ-NPR-Z0-9]{17}\b/, '~vin'],
];

/**
 * Takes a task apart, in time proportional to its length.
 * @param corrected what strange words are taken for, by their stems
 */
export function readTask(task: string, dictionary: Phrases, corrected: ReadonlyMap<string, string> = new Map()): Task {
    const unquoted = task.replaceAll(QUOTATION, ' ');
    const { rest, ideas: shapes } = takeShapes(unquoted);
    const text = rest.replaceAll(/(?<=\p{L})['’]s\b/gu, '').replaceAll(/\S*\p{N}\S*/gu, ' ');
    const words = wordsOf(withoutAccents(text));
    const stems = stemsOf(text).map((stem) => corrected.get(stem) ?? stem);
    const subjects = subjectsIn(words);
    const tail = tailOf(words);
    const units = unitsOf(stems, dictionary, 'task');
    const read = units.map(({ stems: own, ideas, isPhrase, place }, index): TaskPart => {
        const [stem = ''] = own;
        const written = words[place] ?? '';
        const act = index === 0 && !isPhrase && dictionary.acts.get(foldCase(written));
        if (act === 'change') return { stem: undefined, ideas: [MARKS.write], kind: 'act' };
        if (act === 'work') return { stem, ideas, kind: 'act' };
        const isVerb = !isPhrase && dictionary.little.has(stem) && BEFORE_VERBS.has(foldCase(words[place - 1] ?? ''));
        const kinds = new Set(isVerb ? [] : ideas.map((idea) => dictionary.kinds.get(idea) ?? 'what'));
        const isName = place > 0 && /^\p{Lu}/u.test(written) && !corrected.has(stem);
        const kind = kindOf(kinds, { isLittle: !isPhrase && dictionary.little.has(stem), isName });
        return {
            stem: isPhrase ? undefined : stem,
            ideas: isVerb ? [] : ideas,
            kind,
            ...(subjects.has(place) ? { isSubject: true } : {}),
            ...(isName ? { isCapital: true } : {}),
            ...(place >= tail ? { isTail: true } : {}),
            ...(dictionary.english.has(stem) && !isName ? { isEnglish: true } : {}),
        };
    });
    // No endpoint is found by them.
    const parts = read.filter(({ stem = '' }) => stem.length <= LONGEST_WORD);
    const author = authorIn(words, dictionary);
    if (author !== undefined) parts.push(author);
    const said = new Set(parts.flatMap(({ ideas }) => ideas));
    const shaped = shapes.filter((idea) => !said.has(idea)).map((idea): TaskPart => ({ stem: undefined, ideas: [idea], kind: 'what' }));
    const hasNumber = /\d/.test(task) || parts.some(({ stem }) => stem === 'number' || stem === 'id' || stem === 'identifier');
    const hasValue = unquoted !== task || units.some(({ isName }) => isName);
    return { parts: mostTelling([...shaped, ...parts]), hasNumber, hasValue, hasId: ID.test(rest) };
}

/** A number of its own that is no year. */
const ID = /(?<![\w.,:/-])(?!(?:19|20)\d\d(?!\d))\d{3,}(?![\w.,:/-]|\s*%)/;

/** What is quoted is a value, not a word of the task. */
const QUOTATION = /["“„«][^"”»“]{2,300}["”»“]/g;

const BEFORE_SUBJECTS = new Set(['about', 'on', 'regarding', 'concerning', 'mentioning', 'titled']);
const AFTER_SUBJECTS = new Set(['from', 'in', 'at', 'which', 'that', 'who', 'with', 'to', 'for', 'by', 'and', 'is', 'was', 'are']);
const LONGEST_SUBJECT = 5;
/** What is on my list: `on` names a place. */
const IS = new Set(['is', 'are', 'be', 'was', 'were', 'playing', 'turn', 'put', 'switch']);

/** Places of words that name a subject: the few that follow `about` or `on`. */
function subjectsIn(words: readonly string[]): ReadonlySet<number> {
    const places = new Set<number>();
    let left = 0;
    for (const [place, written] of words.entries()) {
        const word = foldCase(written);
        if (BEFORE_SUBJECTS.has(word) && !(word === 'on' && IS.has(foldCase(words[place - 1] ?? '')))) left = LONGEST_SUBJECT;
        else if (AFTER_SUBJECTS.has(word)) left = 0;
        else if (left-- > 0) places.add(place);
    }
    return places;
}

/** `by` before a name: who made it. */
function authorIn(words: readonly string[], dictionary: Phrases): TaskPart | undefined {
    const isNamed = words.some((word, place) => place > 0 && word === 'by' && /^\p{Lu}/u.test(words[place + 1] ?? ''));
    return isNamed && dictionary.kinds.has(AUTHOR) ? { stem: undefined, ideas: [AUTHOR], kind: 'little', isTail: true } : undefined;
}

const AUTHOR = '~author';

/** Can I make: not the make of a car. */
const BEFORE_VERBS = new Set('i we you they he she it to can could may might must shall should will would did does do'.split(' '));

const PREPOSITIONS = new Set(
    'of for in on by at from with without about near between around against during since along under over into via per through within'.split(
        ' ',
    ),
);

/** The place of the first preposition that follows another word. */
function tailOf(words: readonly string[]): number {
    const found = words.findIndex((word, place) => place > 0 && PREPOSITIONS.has(foldCase(word)));
    return found < 0 ? words.length : found;
}

/** The order of `kinds` does not matter: one idea that says what is meant says more than the others. */
function kindOf(kinds: ReadonlySet<IdeaKind>, { isLittle, isName }: { isLittle: boolean; isName: boolean }): TaskPart['kind'] {
    if (kinds.size === 0) return isLittle ? 'little' : isName ? 'name' : 'word';
    if (kinds.has('what') && !isLittle) return 'what';
    if (isLittle || kinds.has('how')) return 'how';
    return kinds.has('where') ? 'where' : 'when';
}

const TELLING: readonly TaskPart['kind'][] = ['act', 'what', 'word', 'name', 'where', 'how', 'when', 'little'];

/** Without repetitions; of too many parts those that say most, in their order. */
function mostTelling(parts: readonly TaskPart[]): TaskPart[] {
    const distinct = [...new Map(parts.map((part) => [part.stem ?? part.ideas.join(' '), part])).values()];
    if (distinct.length <= MOST_PARTS) return distinct;
    const kept = new Set(distinct.toSorted((a, b) => TELLING.indexOf(a.kind) - TELLING.indexOf(b.kind)).slice(0, MOST_PARTS));
    return distinct.filter((part) => kept.has(part));
}

function takeShapes(task: string): { rest: string; ideas: string[] } {
    let rest = task;
    const ideas: string[] = [];
    for (const [shape, idea] of SHAPES) {
        if (!shape.test(rest)) continue;
        rest = rest.replace(shape, ' ');
        ideas.push(idea);
    }
    return { rest, ideas };
}
