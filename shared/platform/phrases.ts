import { readFileSync } from 'node:fs';
import { type Phrases, readPhrases } from '../domain/find/phrases.ts';

let known: Phrases | undefined;

/** The phrase dictionary, as it is shipped. Read on first use. */
export function shippedPhrases(): Phrases {
    if (known !== undefined) return known;
    const read = readPhrases(readFileSync(new URL('../data/phrases.txt', import.meta.url), 'utf8'));
    if (!read.ok) throw new Error(`shared/data/phrases.txt:${read.line} ${read.problem}`);
    known = read.phrases;
    return known;
}
