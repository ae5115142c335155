import { readFileSync } from 'node:fs';
import { type Phrases, readPhrases } from '../domain/find/phrases.ts';

let known: Phrases | undefined;

/** The phrase dictionary of the release. It is read on first use. */
export function shippedPhrases(): Phrases {
    if (known !== undefined) return known;
    const read = readPhrases(dataFile('phrases.txt'), dataFile('english-words.txt'));
    if (!read.ok) throw new Error(`shared/data/phrases.txt:${read.line} ${read.problem}`);
    known = read.phrases;
    return known;
}

function dataFile(name: string): string {
    return readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8');
}
