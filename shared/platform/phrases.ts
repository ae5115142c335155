import { readFileSync } from 'node:fs';
import { type Phrases, readPhrases } from '../domain/find/phrases.ts';
import { readWordVectors, type WordVectors } from '../domain/find/word-vectors.ts';

let known: Phrases | undefined;
let vectors: WordVectors | undefined;

/** The phrase dictionary of the release. It is read on first use. */
export function shippedPhrases(): Phrases {
    if (known !== undefined) return known;
    const read = readPhrases(dataFile('phrases.txt', 'utf8'), dataFile('english-words.txt', 'utf8'));
    if (!read.ok) throw new Error(`shared/data/phrases.txt:${read.line} ${read.problem}`);
    known = read.phrases;
    return known;
}

/** The directions of words of the release. They are read on first use. */
export function shippedWordVectors(): WordVectors {
    vectors ??= readWordVectors(dataFile('word-vectors.txt', 'latin1'));
    return vectors;
}

function dataFile(name: string, encoding: 'utf8' | 'latin1'): string {
    return readFileSync(new URL(`../data/${name}`, import.meta.url), encoding);
}
