import { isObject, objectOf } from '../json/schema/structure.ts';
import { needOf } from '../package/auth.ts';
import { stemsOf } from '../search/tokens.ts';
import type { Endpoint, Json, JsonSchema, PackageDocument, Param } from '../types.ts';
import { type Phrases, spellOut, unitsOf } from './phrases.ts';

/** Increment when the indexed words or the dictionary change, so that existing packages are indexed again. */
export const FIND_RULES = 15;

/** The parts of an endpoint that contain words. Their order is stored: each part is one bit of a word's position. */
export const WORD_FIELDS = ['endpoint', 'description', 'params', 'returns', 'site', 'category'] as const;
export type WordField = (typeof WORD_FIELDS)[number];

/** How significant a word is. A: in name and description. B: in one of them, or in fields and site. C: in the fields. D: in the site. */
type WordClass = 'A' | 'B' | 'C' | 'D';

export interface IndexedWord {
    weight: WordClass;
    /** The parts that contain the word, as bits. */
    fields: number;
}

interface EndpointWords {
    /** Stems, ideas (`~currency`) and marks (`!write`). */
    words: ReadonlyMap<string, IndexedWord>;
    /** Below 1 for long names and descriptions, above 1 for short ones, so that long texts gain nothing. */
    brevity: number;
}

/** Properties of endpoints, stored among their words. */
export const MARKS = {
    /** It may change something. */
    write: '!write',
    /** It accepts a name, a word or another value that may appear in a task. */
    takes: '!takes',
    /** It needs an id that only another call returns. */
    needsId: '!id',
    /** It needs the caller's own credential. */
    needsConnection: '!connection',
} as const;

/** The mark of an endpoint that has a param of this idea: one that takes an address has `!~address`. */
export function takesMark(idea: string): string {
    return `!${idea}`;
}

/** Limits of the input: characters of a text, and names and levels of returned fields. */
const MAX_CHARACTERS = 1000;
const MAX_FIELDS = 200;
const MAX_LEVELS = 8;
/** Maximum number of words stored per endpoint, best class first. */
const MAX_WORDS = 160;
/** Longer words are data. PostgreSQL accepts words of up to 2,046 bytes. */
export const MAX_WORD = 40;

const bitOf = (field: WordField) => 1 << WORD_FIELDS.indexOf(field);
const OWN = [bitOf('endpoint'), bitOf('description')];
const OF_SITE = bitOf('site') | bitOf('category');
/** The bit of words that are in none of the parts. Marks have it. */
const OF_NONE = 1 << WORD_FIELDS.length;
/** The bit of words in later sentences of the description: examples and uses, which weigh like the fields. */
const LATER = OF_NONE << 1;
const IN_FIELDS = bitOf('params') | bitOf('returns') | LATER;

/** The parts of a package that all its endpoints share. */
type SiteHead = Pick<PackageDocument, 'site' | 'title' | 'description' | 'intent_category' | 'auth'>;

/** Extracts the index words of an endpoint, in time linear in its texts. */
export function endpointWords(site: SiteHead, endpoint: Endpoint, dictionary: Phrases): EndpointWords {
    const fields = new Map<string, number>();
    const addWords = (bit: number, words: readonly string[]) => {
        for (const word of words) fields.set(word, (fields.get(word) ?? 0) | bit);
    };
    const add = (field: WordField, text: string, isName = false) => addWords(bitOf(field), wordsIn(text, dictionary, isName));
    const [purpose, examples] = splitDescription(endpoint.description);
    add('endpoint', endpoint.name, true);
    add('description', purpose);
    addWords(LATER, plainWordsIn(examples, dictionary));
    const length = [...fields.keys()].filter((word) => !word.startsWith('~')).length;
    add('site', site.title);
    add('site', site.site.split('.').slice(0, -1).join('. '));
    add('category', site.intent_category.replace('/', '. '));
    add('site', firstSentence(site.description ?? ''));
    for (const text of returnedTexts(endpoint.response.schema)) add('returns', text, true);
    for (const param of endpoint.params) {
        for (const text of textsOf(param)) add('params', text, true);
        if (typeof param.example === 'string') addWords(bitOf('params'), plainWordsIn(param.example, dictionary));
    }
    const words = [...fields].map(([word, found]): [string, IndexedWord] => [word, { weight: weightOf(found), fields: found }]);
    const kept = words.toSorted(([, a], [, b]) => a.weight.localeCompare(b.weight)).slice(0, MAX_WORDS);
    const taken = endpoint.params
        .flatMap((param) => textsOf(param).flatMap((text) => wordsIn(text, dictionary, true)))
        .filter((word) => word.startsWith('~'));
    const marks = [...marksOf(endpoint, site), ...new Set(taken.map(takesMark))].map((mark): [string, IndexedWord] => [
        mark,
        { weight: 'A', fields: OF_NONE },
    ]);
    return { words: new Map([...kept, ...marks]), brevity: brevityOf(length) };
}

function weightOf(fields: number): WordClass {
    const own = OWN.filter((bit) => fields & bit).length;
    if (own === 2) return 'A';
    if (own === 1 || (fields & IN_FIELDS && fields & OF_SITE)) return 'B';
    return fields & IN_FIELDS ? 'C' : 'D';
}

/** The parts that have one of these words. @param search the index words as PostgreSQL writes them: `'word':5A` */
export function fieldsWith(words: Iterable<string>, search: string): WordField[] {
    let found = 0;
    for (const word of words) {
        const at = search.indexOf(`'${word}':`);
        if (at >= 0) found |= Number.parseInt(search.slice(at + word.length + 3), 10);
    }
    if (found & LATER) found |= bitOf('description');
    return WORD_FIELDS.filter((field) => found & bitOf(field));
}

/** Stems and ideas of a text. A phrase also contributes its single words and their ideas. */
function wordsIn(text: string, dictionary: Phrases, isName: boolean): string[] {
    const stems = stemsOf(spellOut(text.slice(0, MAX_CHARACTERS).replaceAll(/https?:\S+/g, ' ')), { isName });
    const words = unitsOf(stems, dictionary, 'description').flatMap(({ stems: own, ideas, isPhrase }) => [
        ...own,
        ...ideas,
        ...(isPhrase ? own.flatMap((stem) => unitsOf([stem], dictionary, 'description').flatMap((unit) => unit.ideas)) : []),
    ]);
    return words.filter((word) => word.length <= MAX_WORD);
}

/** The stems of examples. They have no ideas: a value, or a jacket in a forecast's description, is not what is served. */
function plainWordsIn(text: string, dictionary: Phrases): string[] {
    const stems = stemsOf(spellOut(text.slice(0, MAX_CHARACTERS)));
    return stems.filter((stem) => stem.length <= MAX_WORD && !dictionary.nothing.has(stem));
}

/** What an endpoint is and is used for, and the sentences after that. */
function splitDescription(text: string): [purpose: string, examples: string] {
    const sentences = spellOut(text.slice(0, MAX_CHARACTERS)).split(/(?<=[.?!])\s+(?!\p{Ll})/u);
    return [sentences.slice(0, PURPOSE).join(' '), sentences.slice(PURPOSE).join(' ')];
}

const PURPOSE = 2;

/** Later sentences of a site's description name sources and limits. */
function firstSentence(text: string): string {
    return /^.*?[.;](?=\s)/s.exec(text)?.[0] ?? text;
}

const TYPICAL_LENGTH = 18;
const MIN_LENGTH = 4;
const BREVITY = 0.05;

/** The factor of the shortest texts. */
export const MAX_BREVITY = brevityOf(MIN_LENGTH);

function brevityOf(words: number): number {
    return 1 / (1 + BREVITY * Math.log(Math.max(MIN_LENGTH, words) / TYPICAL_LENGTH));
}

/** Names and descriptions of returned fields, top levels first. */
function returnedTexts(schema: JsonSchema | undefined): string[] {
    const texts: string[] = [];
    let level = [schema];
    for (let depth = 0; depth < MAX_LEVELS && level.length > 0 && texts.length < MAX_FIELDS; depth++) {
        const below: (JsonSchema | undefined)[] = [];
        for (const one of level) {
            if (!isObject(one)) continue;
            const properties = objectOf(one['properties']);
            for (const [name, property] of Object.entries(properties)) {
                texts.push(name, ...(isObject(property) && typeof property['description'] === 'string' ? [property['description']] : []));
                below.push(property as JsonSchema);
            }
            if (isObject(one['items'])) below.push(one['items']);
        }
        level = below;
    }
    return texts.slice(0, MAX_FIELDS);
}

function textsOf({ name, description, schema }: Param): string[] {
    return [
        name,
        description,
        ...choicesOf(schema)
            .slice(0, MAX_FIELDS)
            .filter((value) => typeof value === 'string'),
    ];
}

/** The enum values of a schema, or of the items of a list. */
function choicesOf(schema: JsonSchema | undefined): readonly Json[] {
    if (!isObject(schema)) return [];
    if (Array.isArray(schema['enum'])) return schema['enum'];
    return schema['items'] === undefined ? [] : choicesOf(schema['items'] as JsonSchema);
}

function marksOf(endpoint: Endpoint, { auth = [] }: SiteHead): string[] {
    const { effect, params } = endpoint;
    return [
        ...(needOf(endpoint, auth) === 'required' ? [MARKS.needsConnection] : []),
        ...(effect === 'write' ? [MARKS.write] : []),
        ...(params.some((param) => !isId(param) && (param.required || SEARCHES.test(param.name))) ? [MARKS.takes] : []),
        ...(params.some((param) => param.required && isId(param)) ? [MARKS.needsId] : []),
    ];
}

const SEARCHES = /^(q|query|search|text|keywords?|name|tag|term)$/i;
const ID = /(^|_)(id|ids|guid|uuid|cid|key|number|num|insee|barcode|isbn|doi|vin|icao24|purl|commit|hash)(_list)?$/i;
/** Names of numbers that a caller knows without another call. */
const KNOWN_NUMBER = /lat|lon|lng|coord|year|month|day|page|limit|count|^[xy]$/i;

/** The name of an endpoint, in the description of a param whose value it returns. */
const NAMED_ENDPOINT = /\b[a-z]+(?:_[a-z]+)+\b/;

/** Descriptions of ids, for params whose names do not say so. */
const CALLED_ID = /^(?:the |its |one )?(?:[\w ]{0,20})?(?:number|id|ids|key|identifier) (?:of|that|from|in)\b/i;

function isId({ name, schema, description }: Param): boolean {
    if (/lat|lon|lng|coord|year|month|day|page|limit|count/i.test(name)) return ID.test(name);
    return (
        ID.test(name) ||
        NAMED_ENDPOINT.test(description) ||
        (name.length <= 2 && CALLED_ID.test(description)) ||
        (isObject(schema) && schema['type'] === 'integer' && !KNOWN_NUMBER.test(name))
    );
}
