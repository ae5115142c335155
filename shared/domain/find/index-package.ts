import { readEndpoint } from '../package/endpoint.ts';
import type { Effect, Kind, PackageDocument } from '../types.ts';
import { endpointWords, MARKS } from './endpoint-words.ts';
import { entryOf } from './entry.ts';
import type { Phrases } from './phrases.ts';
import { directionOfEndpoint, type WordVectors } from './word-vectors.ts';

interface IndexedEndpoint {
    place: number;
    name: string;
    kind: Kind;
    effect: Effect;
    /** A tsvector as text: each word once, its fields as place, its class as weight. */
    search: string;
    brevity: number;
    needsId: boolean;
    /** What its words mean; undefined if none is known. */
    direction: string | undefined;
    /** The `EndpointEntry`, as JSON. */
    entry: string;
}

export interface IndexedPackage {
    endpoints: IndexedEndpoint[];
    /** Words that typos are corrected to. */
    words: string[];
}

const WORTH_KNOWING = /^\p{L}[\p{L}\p{M}]{3,23}$/u;

/** Builds the index entries of a stored package, in time linear in its size. @param text its JSON */
export function indexPackage(text: string, dictionary: Phrases, vectors: WordVectors): IndexedPackage {
    const document = JSON.parse(text) as PackageDocument;
    const known = new Set<string>();
    const endpoints = document.endpoints.map((published, place): IndexedEndpoint => {
        const endpoint = readEndpoint(published);
        const { words, brevity } = endpointWords(document, endpoint, dictionary);
        for (const word of words.keys()) if (WORTH_KNOWING.test(word)) known.add(word);
        return {
            place,
            name: endpoint.name,
            kind: endpoint.kind,
            effect: endpoint.effect,
            // Words contain only letters, digits, `~` and `!`, so they need no escaping.
            search: [...words].map(([word, { fields, weight }]) => `'${word}':${fields}${weight}`).join(' '),
            brevity,
            needsId: words.has(MARKS.needsId),
            direction: directionOfEndpoint(words, vectors),
            entry: JSON.stringify(entryOf(document, endpoint)),
        };
    });
    return { endpoints, words: [...known] };
}
