import { tokensOf } from './tokens.ts';
import type { Endpoint, Kind, Method } from './types.ts';

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

/**
 * All endpoints, best matches of the intent first (CONTRACT 3.2); `intentWords` as `checkIntent` found them. A word counts more
 * the fewer endpoints of the package mention it, so that "product" says little in a shop. Ties keep the package's order.
 */
export function rankEndpoints(endpoints: readonly Endpoint[], intentWords: readonly string[]): Endpoint[] {
    const sought = [...new Set(intentWords.slice(0, MAX_WORDS * 2).flatMap((word) => tokensOf(word, { skipCommon: true })))].slice(
        0,
        MAX_WORDS,
    );
    const indexes = endpoints.map(indexOf);
    const scores = endpoints.map(() => 0);
    for (const word of sought) {
        const matches = indexes.map((index) => matchOf(word, index));
        const mentions = matches.filter((match) => match > 0).length;
        const rarity = Math.log(1 + endpoints.length / Math.max(1, mentions));
        for (const [place, match] of matches.entries()) scores[place] = (scores[place] ?? 0) + match * rarity;
    }
    return endpoints
        .map((endpoint, place) => ({ endpoint, place, score: scores[place] ?? 0 }))
        .sort((a, b) => b.score - a.score || a.place - b.place)
        .map(({ endpoint }) => endpoint);
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
