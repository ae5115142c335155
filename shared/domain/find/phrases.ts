import { stemsOf } from '../search/tokens.ts';

/** What an idea says of a task: what is wanted, or only where, when or how. */
export type IdeaKind = 'what' | 'where' | 'when' | 'how';

/**
 * How a task begins that wants more than to be told something: `change` of something at a site (book, order, pay), or `work` on what
 * the caller gives (translate, shorten).
 */
export type Act = 'change' | 'work';

/** The words of the phrase dictionary (shared/data/phrases.txt). */
export interface Phrases {
    /** By their first stem, longest first. */
    phrases: ReadonlyMap<string, readonly Phrase[]>;
    /** By idea, as it is written in an index: `~currency`. */
    kinds: ReadonlyMap<string, IdeaKind>;
    /** Stems that say nothing (`of`, `who`), and those that say little (`find`, `today`). */
    nothing: ReadonlySet<string>;
    little: ReadonlySet<string>;
    /** By the word itself: `books` is none. */
    acts: ReadonlyMap<string, Act>;
    /** All stems of phrases: what a mistyped word may have been meant to be. */
    stems: ReadonlySet<string>;
    /** Stems of English words: they are not mistyped, and are no names. */
    english: ReadonlySet<string>;
}

/** A phrase and its ideas. */
export interface Phrase {
    stems: readonly string[];
    /** Anywhere in the text. */
    ideas: readonly string[];
    /** In a task. */
    ideasInTask: readonly string[];
    /** It is the name of such a thing: a value. */
    isName: boolean;
}

/** A word or a phrase of a text. */
export interface Unit {
    /** Without those that say nothing, where there are others. */
    stems: readonly string[];
    ideas: readonly string[];
    isPhrase: boolean;
    /** It names a thing of its idea: a value. */
    isName: boolean;
    /** Place of its first word among the words of the text. */
    place: number;
}

/** `line` counts from 1. */
export type ReadPhrases = { ok: true; phrases: Phrases } | { ok: false; line: number; problem: string };

const KINDS: ReadonlyMap<string, IdeaKind> = new Map([
    ['places', 'where'],
    ['times', 'when'],
    ['manners', 'how'],
]);
const IDEA = /^[a-z][a-z0-9-]*$/;

/**
 * Reads a dictionary; its own first lines say how it is written.
 * @param english English words, one a line
 */
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
        const [, name = '', list = ''] = /^([^:]+):(.*)$/.exec(written) ?? [];
        const wrong = (problem: string): ReadPhrases => ({ ok: false, line: place + 1, problem });
        if (!IDEA.test(name)) return wrong('begins with no name of an idea and a colon');
        const [everywhere = [], inTask = [], named = [], ...more] = list
            .split('|')
            .map((part) => part.split(',').map((phrase) => phrase.trim()));
        if (more.length > 0) return wrong('has more than two |');
        const all = [...everywhere, ...inTask, ...named].filter((phrase) => phrase !== '');
        if (all.some((phrase) => stemsOf(phrase).length === 0)) return wrong('has a phrase without a word');
        if (heading === 'words') {
            const stems = all.flatMap((phrase) => stemsOf(phrase));
            if (name === 'nothing') for (const stem of stems) nothing.add(stem);
            else if (name === 'little') for (const stem of stems) little.add(stem);
            else if (name === 'change' || name === 'work') for (const word of all) acts.set(word, name);
            else return wrong('is no list of words: nothing, little, change and work are');
            continue;
        }
        const idea = `~${name}`;
        if (kinds.has(idea)) return wrong(`names ${name} a second time`);
        kinds.set(idea, KINDS.get(heading) ?? 'what');
        for (const phrase of all) {
            const stems = stemsOf(phrase);
            const known = found.get(stems.join(' ')) ?? { stems, ideas: new Set(), ideasInTask: new Set(), isName: true };
            found.set(stems.join(' '), known);
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

/**
 * The words and phrases of a text in their order. Words that say nothing are left out, and may be between the words of a phrase.
 * @param stems of the text, in order
 * @param side what a phrase means depends on its side
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

function phraseAt(stems: readonly string[], place: number, dictionary: Phrases, side: 'task' | 'description') {
    for (const phrase of dictionary.phrases.get(stems[place] ?? '') ?? []) {
        if (side === 'description' && phrase.ideas.length === 0) continue;
        const length = lengthOf(phrase, stems, place, dictionary.nothing);
        if (length > 0) return { phrase, length };
    }
    return undefined;
}

/** How many words of the text a phrase takes from this place on; 0 where it is not there. */
function lengthOf({ stems: wanted }: Phrase, stems: readonly string[], place: number, nothing: ReadonlySet<string>): number {
    let at = place;
    for (const [index, stem] of wanted.entries()) {
        while (index > 0 && stems[at] !== stem && nothing.has(stems[at] ?? '')) at++;
        if (stems[at] !== stem) return 0;
        at++;
    }
    return at - place;
}
