import { expect } from 'chai';
import type { Turns } from './measured-api.ts';

/** A turn that should be short reads and writes less JSON than this: what is larger is left to threads, or only its beginning is read. */
const MOST_CHARACTERS = 1024 * 1024;

/**
 * A turn that should be short takes less than so many turns of known work, which the same process does before and after. On a quiet
 * machine the longest one takes a tenth of that, and both take longer on a busy one.
 */
const MOST_KNOWN = 20;

export interface TurnBounds {
    what?: string;
    /** Where its own body is larger than most: characters of JSON. */
    mostCharacters?: number;
    /** For `npm run test:long`: milliseconds of CPU of the longest turn. */
    mostMs?: number | undefined;
}

/** Proves that no turn of a measured process did long work: by counts and ratios that no busy machine changes. */
export function expectShortTurns(turns: Turns, { what = 'all', mostCharacters = MOST_CHARACTERS, mostMs }: TurnBounds = {}): void {
    const said = `${what}: ${turns.turns} turns, worst ${turns.worst.map((ms) => ms.toFixed(1)).join(' ')} ms, known ${turns.knownMs.toFixed(1)} ms`;
    if (process.env['TURNS'] !== undefined) console.log(`${said}, ${turns.mostCharacters} characters`);
    expect(turns.mostCharacters, `characters of JSON in one turn, ${said}`).to.be.below(mostCharacters);
    expect(turns.mostMs / turns.knownMs, `turns of known work in one turn, ${said}`).to.be.below(MOST_KNOWN);
    if (mostMs !== undefined) expect(turns.mostMs, said).to.be.at.most(mostMs);
}
