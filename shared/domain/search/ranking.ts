import { getOrMake } from '../get-or-make.ts';
import type { FindingVerdict } from '../package/verification.ts';
import type { Endpoint, Kind, Method } from '../types.ts';
import { tokensOf } from './tokens.ts';

/** The weight of a match in each field. The name has the highest weight, because its author had to choose one word. */
const WEIGHTS = { name: 6, description: 3, params: 2, paramTexts: 1, kind: 2 } as const;
type Field = keyof typeof WEIGHTS;

/** Words for each kind of endpoint that callers use but descriptions do not contain. */
const KIND_WORDS: Readonly<Record<Kind, string>> = {
    api_call: '',
    navigate: 'page open visit view navigate read',
    search: 'search find look query lookup',
    paginate: 'list all browse pages paginate every',
    submit_form: 'submit form send fill',
};

const METHOD_WORDS: Readonly<Record<Method, string>> = {
    GET: 'get read fetch show',
    HEAD: 'check exists',
    POST: '',
    PUT: 'update replace set change',
    PATCH: 'update edit change modify',
    DELETE: 'delete remove cancel',
};

const tokensOfEach = <Name extends string>(texts: Readonly<Record<Name, string>>): ReadonlyMap<Name, readonly string[]> =>
    new Map((Object.entries(texts) as [Name, string][]).map(([name, text]) => [name, tokensOf(text)]));
const KIND_TOKENS = tokensOfEach(KIND_WORDS);
const METHOD_TOKENS = tokensOfEach(METHOD_WORDS);

/** The share of a full match if a word of the intent begins a word of the endpoint, or the reverse. */
const PREFIX_SHARE = 0.5;
const MIN_PREFIX = 4;

/** Maximum number of words of an intent that are used. Matching a long intent with 500 endpoints would block the event loop. */
const MAX_WORDS = 50;

/** Facts about endpoints that are not in their package, by endpoint name. */
export interface Experience {
    /** By word of an intent (from `searchWords`): the number of callers that the word led to each endpoint. */
    outcomes: ReadonlyMap<string, ReadonlyMap<string, number>>;
    /** Verdicts of the last verification run. */
    verdicts: ReadonlyMap<string, FindingVerdict>;
    /** Success rate of 7 days, from 0 to 1. */
    successRates: ReadonlyMap<string, number>;
}

const NONE: Experience = { outcomes: new Map(), verdicts: new Map(), successRates: new Map() };

/** The words of an intent that distinguish endpoints, normalised for comparison. `intentWords` come from `checkIntent`. */
export function searchWords(intentWords: readonly string[]): string[] {
    const words = intentWords.slice(0, MAX_WORDS * 2).flatMap((word) => tokensOf(word, { skipCommon: true }));
    return [...new Set(words)].slice(0, MAX_WORDS);
}

/** The words of an intent that may be stored. Numbers and long words may identify a person, so they are left out. */
export function memorableWords(sought: readonly string[]): string[] {
    return sought.filter((word) => /^[\p{L}\p{M}]{2,32}$/u.test(word));
}

/**
 * Ranks all endpoints, best matches of the intent first (docs/api.md, "The registry"). `sought` is the result of `searchWords`. The fewer
 * endpoints of the package contain a word, the higher its weight, so "product" means little in a shop. Endpoints that earlier callers used
 * with a word score as if they contained it. Equal endpoints are ordered by verification, then by success rate, then by the order of the
 * package.
 */
export function rankEndpoints(endpoints: readonly Endpoint[], sought: readonly string[], experience: Experience = NONE): Endpoint[] {
    const words = getOrMake(indexes, endpoints, () => endpoints.map(indexOf));
    const scores = endpoints.map(() => 0);
    for (const word of sought) {
        const led = experience.outcomes.get(word);
        const matches = words.map((index, place) => matchOf(word, index) + learnedScore(led?.get(endpoints[place]?.name ?? '') ?? 0));
        const mentions = matches.filter((match) => match > 0).length;
        const rarity = Math.log(1 + endpoints.length / Math.max(1, mentions));
        for (const [place, match] of matches.entries()) scores[place] = (scores[place] ?? 0) + match * rarity;
    }
    return endpoints
        .map((endpoint, place) => ({ endpoint, place, score: scores[place] ?? 0, trust: trustIn(endpoint.name, experience) }))
        .sort((a, b) => b.score - a.score || b.trust - a.trust || a.place - b.place)
        .map(({ endpoint }) => endpoint);
}

/** The first callers have the most effect. No number of callers weighs more than the name of an endpoint. */
function learnedScore(callers: number): number {
    return Math.min(WEIGHTS.name, 2 * Math.log2(1 + callers));
}

const TRUST: Readonly<Record<FindingVerdict, number>> = { passed: 2, unknown: 0, failed: -2 };

/** The rank of an endpoint by verification, then by success rate. Endpoints without traffic rank between working and failing ones. */
function trustIn(name: string, { verdicts, successRates }: Experience): number {
    return TRUST[verdicts.get(name) ?? 'unknown'] + Math.round((successRates.get(name) ?? 0.5) * 10) / 10;
}

/** The words of an endpoint and, at the same index, the weight of the word's field. A word in several fields appears several times. */
interface Index {
    tokens: string[];
    weights: number[];
}

/** A cache by endpoint list. Versions are immutable, so each list is split into words only once. */
const indexes = new WeakMap<readonly Endpoint[], Index[]>();

function indexOf(endpoint: Endpoint): Index {
    const index: Index = { tokens: [], weights: [] };
    for (const [field, tokens] of fieldsOf(endpoint)) {
        for (const token of tokens) {
            index.tokens.push(token);
            index.weights.push(WEIGHTS[field]);
        }
    }
    return index;
}

function fieldsOf(endpoint: Endpoint): [Field, readonly string[]][] {
    return [
        ['name', tokensOf(endpoint.name)],
        ['description', tokensOf(endpoint.description)],
        ['params', tokensOf(endpoint.params.map(({ name }) => name).join(' '))],
        ['paramTexts', tokensOf(endpoint.params.map(({ description }) => description).join(' '))],
        ['kind', KIND_TOKENS.get(endpoint.kind) ?? []],
        ['kind', METHOD_TOKENS.get(endpoint.method) ?? []],
    ];
}

function matchOf(word: string, { tokens, weights }: Index): number {
    const first = word.charCodeAt(0);
    let whole = 0;
    let begun = 0;
    for (let place = 0; place < tokens.length; place++) {
        const token = tokens[place] as string;
        if (token.charCodeAt(0) !== first) continue;
        const weight = weights[place] as number;
        if (token === word) whole = Math.max(whole, weight);
        else if (isBeginning(token, word)) begun = Math.max(begun, weight);
    }
    return whole > 0 ? whole : begun * PREFIX_SHARE;
}

/** Whether one of the two words is the beginning of the other. */
function isBeginning(one: string, other: string): boolean {
    return one.length >= MIN_PREFIX && other.length >= MIN_PREFIX && (one.startsWith(other) || other.startsWith(one));
}
