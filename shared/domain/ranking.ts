import { tokensOf } from './tokens.ts';
import type { Endpoint, Kind, Method } from './types.ts';
import type { FindingVerdict } from './verification.ts';

/** What a match in each field is worth. A name says most, since its author had to choose one word. */
const WEIGHTS = { name: 6, description: 3, params: 2, paramTexts: 1, kind: 2 } as const;
type Field = keyof typeof WEIGHTS;

/** Words that callers use for what an endpoint of a kind does; they stand in no description. */
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

/** A word of the intent that begins a word of the endpoint, or the reverse, counts this much of a whole match. */
const PREFIX_SHARE = 0.5;
const MIN_PREFIX = 4;

/** An intent says what it wants within its first words; without a bound, a long one against 500 endpoints would hold up everybody. */
const MAX_WORDS = 50;

/** What is known of endpoints beside what their package says, each by its name. */
export interface Experience {
    /** By word of an intent, as `soughtWords` gives them: how many callers it led to which endpoint. */
    outcomes: ReadonlyMap<string, ReadonlyMap<string, number>>;
    /** What the last verification run found. */
    verdicts: ReadonlyMap<string, FindingVerdict>;
    /** Success rate of 7 days, 0 to 1. */
    successRates: ReadonlyMap<string, number>;
}

const NONE: Experience = { outcomes: new Map(), verdicts: new Map(), successRates: new Map() };

/** The words of an intent that tell endpoints apart, in the form in which they are compared; `intentWords` as `checkIntent` found them. */
export function soughtWords(intentWords: readonly string[]): string[] {
    const words = intentWords.slice(0, MAX_WORDS * 2).flatMap((word) => tokensOf(word, { skipCommon: true }));
    return [...new Set(words)].slice(0, MAX_WORDS);
}

/** Of the words of an intent those that may be remembered: numbers and long ones may tell who asks. */
export function memorableWords(sought: readonly string[]): string[] {
    return sought.filter((word) => /^[\p{L}\p{M}]{2,32}$/u.test(word));
}

/**
 * All endpoints, best matches of the intent first (CONTRACT 3.2); `sought` as `soughtWords` found them. A word counts more the fewer
 * endpoints of the package mention it, so that "product" says little in a shop; where earlier callers went with a word counts like what
 * the endpoint says of itself. Of equals those that were verified come first, then those that work better, then the package's order.
 */
export function rankEndpoints(endpoints: readonly Endpoint[], sought: readonly string[], experience: Experience = NONE): Endpoint[] {
    const indexes = endpoints.map(indexOf);
    const scores = endpoints.map(() => 0);
    for (const word of sought) {
        const led = experience.outcomes.get(word);
        const matches = indexes.map((index, place) => matchOf(word, index) + learntOf(led?.get(endpoints[place]?.name ?? '') ?? 0));
        const mentions = matches.filter((match) => match > 0).length;
        const rarity = Math.log(1 + endpoints.length / Math.max(1, mentions));
        for (const [place, match] of matches.entries()) scores[place] = (scores[place] ?? 0) + match * rarity;
    }
    return endpoints
        .map((endpoint, place) => ({ endpoint, place, score: scores[place] ?? 0, trust: trustIn(endpoint.name, experience) }))
        .sort((a, b) => b.score - a.score || b.trust - a.trust || a.place - b.place)
        .map(({ endpoint }) => endpoint);
}

/** The first callers say most, and no number of them says more than the endpoint's own name. */
function learntOf(callers: number): number {
    return Math.min(WEIGHTS.name, 2 * Math.log2(1 + callers));
}

const TRUST: Readonly<Record<FindingVerdict, number>> = { passed: 2, unknown: 0, failed: -2 };

/** What was verified first; traffic tells equals apart, and one without any stands between those that work and those that do not. */
function trustIn(name: string, { verdicts, successRates }: Experience): number {
    return TRUST[verdicts.get(name) ?? 'unknown'] + Math.round((successRates.get(name) ?? 0.5) * 10) / 10;
}

/** Each word of an endpoint with the weight of the best field that has it. */
type Index = ReadonlyMap<string, number>;

/** Endpoints of immutable versions are asked about again and again; they are taken apart once. */
const indexes = new WeakMap<Endpoint, Index>();

function indexOf(endpoint: Endpoint): Index {
    const known = indexes.get(endpoint);
    if (known !== undefined) return known;
    const index = new Map<string, number>();
    for (const [field, text] of fieldsOf(endpoint)) {
        for (const token of tokensOf(text)) index.set(token, Math.max(index.get(token) ?? 0, WEIGHTS[field]));
    }
    indexes.set(endpoint, index);
    return index;
}

function fieldsOf(endpoint: Endpoint): [Field, string][] {
    return [
        ['name', endpoint.name],
        ['description', endpoint.description],
        ['params', endpoint.params.map(({ name }) => name).join(' ')],
        ['paramTexts', endpoint.params.map(({ description }) => description).join(' ')],
        ['kind', `${KIND_WORDS[endpoint.kind]} ${METHOD_WORDS[endpoint.method]}`],
    ];
}

function matchOf(word: string, index: Index): number {
    const whole = index.get(word);
    if (whole !== undefined) return whole;
    if (word.length < MIN_PREFIX) return 0;
    let best = 0;
    for (const [token, weight] of index) {
        if (token.length >= MIN_PREFIX && (token.startsWith(word) || word.startsWith(token))) best = Math.max(best, weight);
    }
    return best * PREFIX_SHARE;
}
