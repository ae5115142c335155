/** Pseudo-random choices, the same for the same seed. */
export interface Random {
    /** From 0 to 1, excluding 1. */
    next(): number;
    /** A whole number, including both bounds. */
    int(least: number, most: number): number;
    chance(probability: number): boolean;
    pick<T>(choices: readonly T[]): T;
    /** Random words, `length` characters in total. */
    words(length: number): string;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzäéßжあ';

/** The choices of one case of a run: Mulberry32 seeded with both numbers. */
export function openRandom(seed: number, number: number): Random {
    let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)) >>> 0;
    const next = () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
    const int = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
    return {
        next,
        int,
        chance: (probability) => next() < probability,
        pick: (choices) => {
            const chosen = choices[int(0, choices.length - 1)];
            if (chosen === undefined) throw new Error('there is nothing to choose from');
            return chosen;
        },
        words: (length) =>
            Array.from({ length }, (_, index) =>
                index % 7 === 6 && index < length - 1 ? ' ' : (LETTERS[int(0, LETTERS.length - 1)] ?? 'a'),
            ).join(''),
    };
}
