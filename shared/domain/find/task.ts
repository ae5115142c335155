import { stemsOf } from '../search/tokens.ts';
import { foldCase, withoutAccents, wordsOf } from '../text/fold-text.ts';
import { MARKS, MAX_WORD } from './endpoint-words.ts';
import { type Act, type IdeaKind, ideasOfStem, type Phrases, spellOut, type Unit, unitsOf } from './phrases.ts';

export interface TaskPart {
    /** The stem of a single word; undefined for a phrase, which has only ideas. */
    stem: string | undefined;
    ideas: readonly string[];
    /** `name`: capitalised within the sentence. `act`: a verb that asks for more than information. `little`: of low significance. */
    kind: IdeaKind | 'little' | 'name' | 'word' | 'act';
    /** It is a subject (books about X): a value to search for, not the thing to find. */
    isSubject?: true;
    /** It follows the first preposition, so it only qualifies the words before. */
    isTail?: true;
    /** It is a common English word, so neither a name nor a typo. */
    isEnglish?: true;
    /** Descriptions that have the stem have one of the ideas, too. */
    isCovered?: true;
}

export interface Task {
    parts: readonly TaskPart[];
    /** It contains digits or mentions a number, so the caller may know an id. */
    hasNumber: boolean;
    /** It contains a value: a quotation or a name. */
    hasValue: boolean;
    /** It contains a number that looks like an id. */
    hasId: boolean;
    /** It asks for personal data of the caller, such as "my calendar". */
    isOwn: boolean;
    /** Ideas of what the caller gives: an address in "address to coordinates", a currency in "the rate of the yen". */
    given: readonly string[];
}

/** The most parts of a task that are used; each costs time. */
const MAX_PARTS = 16;

/** Values whose form shows their kind, and the idea of that kind. */
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

/** Parses a task, in time linear in its length. @param corrected corrections of typos, by stem */
export function readTask(task: string, dictionary: Phrases, corrected: ReadonlyMap<string, string> = new Map()): Task {
    const unquoted = task.replaceAll(QUOTATION, ' ');
    const { rest, ideas: shapes } = takeShapes(spellOut(unquoted));
    const text = rest.replaceAll(/(?<=\p{L})['’]s\b/gu, '').replaceAll(/(?<!\S)\S*?\p{N}\S*/gu, ' ');
    const words = wordsOf(withoutAccents(text));
    const stems = stemsOf(text).map((stem) => corrected.get(stem) ?? stem);
    const sentence: Sentence = { words, subjects: subjectsIn(words), tail: tailOf(words) };
    const begin = beginOf(words);
    const units = unitsOf(stems, dictionary, 'task');
    const read = units.map((unit, index) => {
        const isFirst = unit.place === begin && units.slice(0, index).every((before) => !before.isPhrase);
        return (isFirst && actIn(unit, words, dictionary)) || partOf(unit, sentence, dictionary);
    });
    // Longer stems are not in the index.
    const parts = read.filter(({ stem = '' }) => stem.length <= MAX_WORD);
    const author = authorIn(words, dictionary);
    if (author !== undefined) parts.push(author);
    const stated = new Set(parts.flatMap(({ ideas }) => ideas));
    const shaped = shapes.filter((idea) => !stated.has(idea)).map((idea): TaskPart => ({ stem: undefined, ideas: [idea], kind: 'what' }));
    const hasNumber =
        /\d/.test(task) || parts.some(({ stem, ideas }) => NUMBERS.has(stem ?? '') || ideas.some((idea) => KINDS_OF_ID.has(idea)));
    const hasValue = unquoted !== task || units.some(({ isName }) => isName);
    return {
        parts: keepMostSignificant([...shaped, ...parts]),
        hasNumber,
        hasValue,
        hasId: ID.test(rest),
        isOwn: isOwn(words, dictionary),
        given: [...givenIn(units, words), ...namedIn(units, dictionary)],
    };
}

/** The index of the first word after words that only ask, such as "I need to". Without `to`, `need` is not one: no verb begins "need books". */
function beginOf(words: readonly string[]): number {
    const folded = words.map(foldCase);
    return folded.findIndex((word, place) => !ASKING.has(word) || (word === 'need' && folded[place + 1] !== 'to'));
}

/** The part for a verb that begins a task; undefined if the verb is not an act. */
function actIn({ stems: [stem], ideas, isPhrase, place }: Unit, words: readonly string[], dictionary: Phrases): TaskPart | undefined {
    const act = isPhrase ? undefined : actOf(words, place, dictionary);
    if (act === 'change') return { stem: undefined, ideas: [MARKS.write], kind: 'act' };
    return act === 'work' ? { stem, ideas, kind: 'act' } : undefined;
}

interface Sentence {
    words: readonly string[];
    /** Indices of words that name a subject. */
    subjects: ReadonlySet<number>;
    /** The index of the first preposition. */
    tail: number;
}

function partOf({ stems: [stem = ''], ideas, isPhrase, place }: Unit, { words, subjects, tail }: Sentence, dictionary: Phrases): TaskPart {
    const isLittle = !isPhrase && dictionary.little.has(stem);
    const isVerb = isLittle && BEFORE_VERBS.has(foldCase(words[place - 1] ?? ''));
    const kinds = new Set(isVerb ? [] : ideas.map((idea) => dictionary.kinds.get(idea) ?? 'what'));
    const isName = place > 0 && /^\p{Lu}/u.test(words[place] ?? '');
    return {
        stem: isPhrase ? undefined : stem,
        ideas: isVerb ? [] : ideas,
        kind: kindOf(kinds, { isLittle, isName }),
        ...(subjects.has(place) ? { isSubject: true } : {}),
        ...(place >= tail ? { isTail: true } : {}),
        ...(dictionary.english.has(stem) && !isName ? { isEnglish: true } : {}),
        ...(!isPhrase && !isVerb && isCovered(stem, ideas, dictionary) ? { isCovered: true } : {}),
    };
}

function isCovered(stem: string, ideas: readonly string[], dictionary: Phrases): boolean {
    const described = ideasOfStem(stem, dictionary);
    return ideas.some((idea) => described.includes(idea));
}

/** A caller whose task names an id ("from its DOI", "by barcode") has that id. */
const NUMBERS = new Set(['number', 'id', 'identifier']);
const KINDS_OF_ID = new Set(['~isbn', '~barcode', '~doi', '~vin']);

/** A separate number that is not a year. */
const ID = /(?<![\w.,:/-])(?!(?:19|20)\d\d(?!\d))\d{3,}(?![\w.,:/-]|\s*%)/;

/** Quoted text is a value, not a word of the task. */
const QUOTATION = /["“„«][^"”»“]{2,300}["”»“]/g;

const BEFORE_SUBJECTS = new Set(['about', 'on', 'regarding', 'concerning', 'mentioning', 'titled']);
const AFTER_SUBJECTS = new Set(['from', 'in', 'at', 'which', 'that', 'who', 'with', 'to', 'for', 'by', 'and', 'is', 'was', 'are']);
const MAX_SUBJECT = 5;
/** After these words, `on` introduces a place, not a subject: what is on my list. */
const BEFORE_PLACES = new Set(['is', 'are', 'be', 'was', 'were', 'playing', 'turn', 'put', 'switch']);

/** Indices of words that name a subject: the first few after `about`, `on` and the like. */
function subjectsIn(words: readonly string[]): ReadonlySet<number> {
    const places = new Set<number>();
    let left = 0;
    for (const [place, written] of words.entries()) {
        const word = foldCase(written);
        if (BEFORE_SUBJECTS.has(word) && !(word === 'on' && BEFORE_PLACES.has(foldCase(words[place - 1] ?? '')))) left = MAX_SUBJECT;
        else if (AFTER_SUBJECTS.has(word)) left = 0;
        else if (left-- > 0) places.add(place);
    }
    return places;
}

const INTO = new Set(['to', 'into']);

/** The ideas before `to` or `into`, if other ideas follow it: of `address` in "address to coordinates". */
function givenIn(units: readonly Unit[], words: readonly string[]): string[] {
    return units.slice(1).flatMap((after, index) => {
        const before = units[index];
        const isPair = before !== undefined && !before.isName && !after.isName && after.ideas.length > 0;
        // The phrase "how to" has a `to` of its own.
        if (!isPair || before.stems.some((stem) => INTO.has(stem))) return [];
        const isInto = words.slice(before.place + 1, after.place).some((word) => INTO.has(foldCase(word)));
        return isInto && !before.ideas.some((idea) => after.ideas.includes(idea)) ? before.ideas : [];
    });
}

/** The ideas of things that the task names. Places are no things: they say where. */
function namedIn(units: readonly Unit[], { kinds }: Phrases): string[] {
    return units.filter(({ isName }) => isName).flatMap(({ ideas }) => ideas.filter((idea) => kinds.get(idea) === 'what'));
}

/** Whether `my` begins the task, apart from words of low significance ("show me my"), and what it has is personal data. */
function isOwn(words: readonly string[], { nothing, little }: Phrases): boolean {
    const folded = words.map(foldCase);
    const place = folded.indexOf('my');
    if (place < 0) return false;
    const isFirst = folded.slice(0, place).every((word) => (nothing.has(word) || little.has(word)) && !BEFORE_OTHERS.has(word));
    const after = folded.slice(place + 1);
    const end = after.findIndex((word) => PREPOSITIONS.has(word) || word === 'to');
    const had = end < 0 ? after : after.slice(0, end);
    return isFirst && !OTHERS.has(had[0] ?? '') && had.some((word) => PERSONAL.has(word));
}

/** After these words, `my` names where something is, or who does or gets something: how did my member of parliament vote. */
const BEFORE_OTHERS = new Set('how why when did do does has have will can tell in at near around from to for with'.split(' '));
/** Others' data, which is public: my MP's bills. */
const OTHERS = new Set('nearest closest local area neighbourhood town city country member representative senator mp'.split(' '));
/**
 * Data that a site has for each account. Other things are the caller's, too, but public services answer for them: an IP address, a car, a
 * postcode. Missing for this reason: `email`, mostly an address, and `library`, mostly a building.
 */
const PERSONAL = new Set(
    [
        'calendar agenda diary appointment appointments meeting meetings booking bookings reservation reservations',
        'inbox mail mails emails messages contacts notifications profile subscription subscriptions',
        'order orders invoice invoices bill bills account accounts balance wallet cart basket shopping',
        'playlist playlists files documents notes task tasks todo todos repository repositories repo repos',
    ].flatMap((line) => line.split(' ')),
);

/** The idea of an author, for `by` before a name. */
function authorIn(words: readonly string[], dictionary: Phrases): TaskPart | undefined {
    const isNamed = words.some((word, place) => place > 0 && word === 'by' && /^\p{Lu}/u.test(words[place + 1] ?? ''));
    return isNamed && dictionary.kinds.has(AUTHOR) ? { stem: undefined, ideas: [AUTHOR], kind: 'little', isTail: true } : undefined;
}

const AUTHOR = '~author';

/** A verb that begins a task may follow these: "please book", "how do I book". In "is the book here" it is no verb. */
const ASKING = new Set('i we you me us please how where do does can could may must should will would want need to'.split(' '));

/** Some verbs are acts only with the next word: "register for a course", but not "register of companies". */
function actOf(words: readonly string[], place: number, { acts }: Phrases): Act | undefined {
    const [verb = '', next = ''] = words.slice(place, place + 2).map(foldCase);
    return acts.get(verb) ?? acts.get(`${verb} ${next}`);
}

/** A word after one of these is a verb: in "can I make", `make` is not the make of a car. */
const BEFORE_VERBS = new Set('i we you they he she it to can could may might must shall should will would did does do'.split(' '));

const PREPOSITIONS = new Set(
    'of for in on by at from with without about near between around against during since along under over into via per through within'.split(
        ' ',
    ),
);

/** The index of the first preposition that is not the first word. */
function tailOf(words: readonly string[]): number {
    const found = words.findIndex((word, place) => place > 0 && PREPOSITIONS.has(foldCase(word)));
    return found < 0 ? words.length : found;
}

/** The most significant role of a part, regardless of the order of its ideas. */
function kindOf(kinds: ReadonlySet<IdeaKind>, { isLittle, isName }: { isLittle: boolean; isName: boolean }): TaskPart['kind'] {
    if (kinds.size === 0) return isLittle ? 'little' : isName ? 'name' : 'word';
    if (kinds.has('what') && !isLittle) return 'what';
    if (isLittle || kinds.has('how')) return 'how';
    return kinds.has('where') ? 'where' : 'when';
}

const TELLING: readonly TaskPart['kind'][] = ['act', 'what', 'word', 'name', 'where', 'how', 'when', 'little'];

/** Removes repetitions and, above the limit, the least significant parts. Keeps the order. */
function keepMostSignificant(parts: readonly TaskPart[]): TaskPart[] {
    const distinct = [...new Map(parts.map((part) => [part.stem ?? part.ideas.join(' '), part])).values()];
    if (distinct.length <= MAX_PARTS) return distinct;
    const kept = new Set(distinct.toSorted((a, b) => TELLING.indexOf(a.kind) - TELLING.indexOf(b.kind)).slice(0, MAX_PARTS));
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
