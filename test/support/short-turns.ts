import { expect } from 'chai';
import type { Turns } from './measured-api.ts';

/** A short turn reads and writes less JSON than this. Larger texts are left to threads, or only their beginning is read. */
const MAX_CHARACTERS = 1024 * 1024;

/**
 * A short turn takes less than this many times the known work, which the same process does before and after. On a quiet machine the longest
 * turn takes a tenth of that; on a busy machine both take longer.
 */
const MAX_KNOWN = 20;

interface TurnBounds {
    what?: string;
    /** Maximum number of characters of JSON, if its own body is larger than usual. */
    maxCharacters?: number;
    /** For `npm run test:long`: the maximum CPU milliseconds of the longest turn. */
    maxMs?: number | undefined;
}

/** Checks that no turn of a measured process did long work. Uses counts and ratios, which a busy machine does not change. */
export function expectShortTurns(turns: Turns, { what = 'all', maxCharacters = MAX_CHARACTERS, maxMs }: TurnBounds = {}): void {
    const said = `${what}: ${turns.turns} turns, worst ${turns.worst.map((ms) => ms.toFixed(1)).join(' ')} ms, known ${turns.knownMs.toFixed(1)} ms`;
    if (process.env['TURNS'] !== undefined) console.log(`${said}, ${turns.maxCharacters} characters`);
    expect(turns.maxCharacters, `characters of JSON in one turn, ${said}`).to.be.below(maxCharacters);
    expect(turns.maxMs / turns.knownMs, `turns of known work in one turn, ${said}`).to.be.below(MAX_KNOWN);
    if (maxMs !== undefined) expect(turns.maxMs, said).to.be.at.most(maxMs);
}
