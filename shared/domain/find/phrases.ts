import { getOrMake } from '../get-or-make.ts';
import { stemsOf } from '../search/tokens.ts';

/** The role of an idea in a task: what is wanted, or only where, when or how. */
export type IdeaKind = 'what' | 'where' | 'when' | 'how';

/** What a verb asks for: `change` changes something at a site (book, pay), `work` processes the caller's input (translate). */
export type Act = 'change' | 'work';

/** The words of the phrase dictionary (shared/data/phrases.txt). */
export interface Phrases {
    /** By their first stem, longest first. */
    phrases: ReadonlyMap<string, readonly Phrase[]>;
    /** By idea, as in the index: `~currency`. */
    kinds: ReadonlyMap<string, IdeaKind>;
    /** Stop words (`of`, `who`) and words of low significance (`find`, `today`), as stems. */
    nothing: ReadonlySet<string>;
    little: ReadonlySet<string>;
    /** By the exact words: `book` and `apply for` are acts, `books` is not. */
    acts: ReadonlyMap<string, Act>;
    /** All stems of phrases, as candidates for the correction of typos. */
    stems: ReadonlySet<string>;
    /** Stems of English words, which are neither typos nor names. */
    english: ReadonlySet<string>;
}

interface Phrase {
    stems: readonly string[];
    /** Its ideas in any text. */
    ideas: readonly string[];
    ideasInTask: readonly string[];
    /** It names an instance of the idea, so it is a value. */
    isName: boolean;
}

/** A word or a phrase of a text. */
export interface Unit {
    /** Without stop words, unless there are only stop words. */
    stems: readonly string[];
    ideas: readonly string[];
    isPhrase: boolean;
    /** It names an instance of its idea, so it is a value. */
    isName: boolean;
    /** Index of its first word in the text. */
    place: number;
}

/** `line` counts from 1. */
type ReadPhrases = { ok: true; phrases: Phrases } | { ok: false; line: number; problem: string };

const KINDS: ReadonlyMap<string, IdeaKind> = new Map([
    ['places', 'where'],
    ['times', 'when'],
    ['manners', 'how'],
]);
const IDEA = /^[a-z][a-z0-9-]*$/;

/** Parses a dictionary. The head of phrases.txt describes the format. @param english English words, one per line */
export function readPhrases(text: string, english = ''): ReadPhrases {
    const found = new Map<string, { stems: string[]; ideas: Set<string>; ideasInTask: Set<string>; isName: boolean }>();
    const kinds = new Map<string, IdeaKind>();
    const nothing = new Set<string>();
    const little = new Set<string>();
    const acts = new Map<string, Act>();
    let heading = '';
    for (const [place, line] of text.split(/\r?\n/).entries()) {
        const written = line.replace(/#.*/, '').trim();
        if (written === '') continue;
        const [, title] = /^\[(.+)\]$/.exec(written) ?? [];
        if (title !== undefined) {
            heading = title;
            continue;
        }
        const wrong = (problem: string): ReadPhrases => ({ ok: false, line: place + 1, problem });
        const read = readLine(written);
        if (typeof read === 'string') return wrong(read);
        const { name, everywhere, named, all } = read;
        if (heading === 'words') {
            const stems = all.flatMap((phrase) => stemsOf(phrase));
            if (name === 'nothing') for (const stem of stems) nothing.add(stem);
            else if (name === 'little') for (const stem of stems) little.add(stem);
            else if (name === 'change' || name === 'work') for (const word of all) acts.set(word, name);
            else return wrong('is not a list of words; the lists are nothing, little, change and work');
            continue;
        }
        const idea = `~${name}`;
        if (kinds.has(idea)) return wrong(`repeats the idea ${name}`);
        kinds.set(idea, KINDS.get(heading) ?? 'what');
        for (const phrase of all) {
            const stems = stemsOf(phrase);
            const known = getOrMake(found, stems.join(' '), () => ({ stems, ideas: new Set(), ideasInTask: new Set(), isName: true }));
            known.ideasInTask.add(idea);
            known.isName &&= named.includes(phrase);
            if (everywhere.includes(phrase)) known.ideas.add(idea);
        }
    }
    const phrases = [...found.values()].map(({ stems, ideas, ideasInTask, isName }) => ({
        stems,
        isName,
        ideas: [...ideas],
        ideasInTask: [...ideasInTask],
    }));
    phrases.sort((a, b) => b.stems.length - a.stems.length);
    return {
        ok: true,
        phrases: {
            phrases: Map.groupBy(phrases, ({ stems }) => stems[0] ?? ''),
            kinds,
            nothing,
            little,
            acts,
            stems: new Set(phrases.flatMap(({ stems }) => stems)),
            english: new Set(stemsOf(english.replaceAll(/^#.*$/gm, ''))),
        },
    };
}

/** Reads `name: phrases | phrases in tasks | names of instances`. A text says what is wrong with the line. */
function readLine(written: string): { name: string; everywhere: string[]; named: string[]; all: string[] } | string {
    const [, name = '', list = ''] = /^([^:]+):(.*)$/.exec(written) ?? [];
    if (!IDEA.test(name)) return 'must begin with the name of an idea and a colon';
    const parts = list.split('|').map((part) => part.split(',').map((phrase) => phrase.trim()));
    const [everywhere = [], inTask = [], named = [], ...more] = parts;
    if (more.length > 0) return 'has more than two |';
    const all = [...everywhere, ...inTask, ...named].filter((phrase) => phrase !== '');
    if (all.some((phrase) => stemsOf(phrase).length === 0)) return 'has a phrase without a word';
    const twice = all.find((phrase, index) => all.indexOf(phrase) !== index);
    return twice === undefined ? { name, everywhere, named, all } : `has ${twice} twice`;
}

/**
 * Splits a text into words and phrases, in order. Stop words are dropped, and may stand between the words of a phrase.
 * @param stems the stems of the text, in order
 * @param side selects which ideas of a phrase apply
 */
export function unitsOf(stems: readonly string[], dictionary: Phrases, side: 'task' | 'description'): Unit[] {
    const units: Unit[] = [];
    for (let place = 0; place < stems.length; ) {
        const stem = stems[place] as string;
        const found = phraseAt(stems, place, dictionary, side);
        if (found === undefined) {
            if (!dictionary.nothing.has(stem)) units.push({ stems: [stem], ideas: [], isPhrase: false, isName: false, place });
            place++;
            continue;
        }
        const { phrase, length } = found;
        const telling = phrase.stems.filter((one) => !dictionary.nothing.has(one));
        const ideas = side === 'task' ? phrase.ideasInTask : phrase.ideas;
        units.push({
            stems: telling.length > 0 ? telling : phrase.stems,
            ideas,
            isPhrase: phrase.stems.length > 1,
            isName: phrase.isName,
            place,
        });
        place += length;
    }
    return units;
}

/** Replaces abbreviations that would be read as other words: `US` as the pronoun, `U.K.` as two letters. */
export function spellOut(text: string): string {
    // In a text of capitals, US may be the pronoun.
    if (!/\p{Ll}/u.test(text)) return text;
    return text
        .replaceAll(/(?<![\p{L}\p{N}.])U\.?S\.?(?:A\.?)?(?![\p{L}\p{N}])/gu, 'USA')
        .replaceAll(/(?<![\p{L}\p{N}.])U\.K\.?(?![\p{L}\p{N}])/gu, 'UK');
}

/** The ideas that a description has wherever it has this stem. */
export function ideasOfStem(stem: string, dictionary: Phrases): string[] {
    return unitsOf([stem], dictionary, 'description').flatMap(({ ideas }) => ideas);
}

function phraseAt(stems: readonly string[], place: number, dictionary: Phrases, side: 'task' | 'description') {
    for (const phrase of dictionary.phrases.get(stems[place] ?? '') ?? []) {
        if (side === 'description' && phrase.ideas.length === 0) continue;
        const length = lengthOf(phrase, stems, place, dictionary.nothing);
        if (length > 0) return { phrase, length };
    }
    return undefined;
}

/** The number of words that a phrase covers at this index; 0 if it does not match. */
function lengthOf({ stems: wanted }: Phrase, stems: readonly string[], place: number, nothing: ReadonlySet<string>): number {
    let at = place;
    for (const [index, stem] of wanted.entries()) {
        while (index > 0 && stems[at] !== stem && nothing.has(stems[at] ?? '')) at++;
        if (stems[at] !== stem) return 0;
        at++;
    }
    return at - place;
}
