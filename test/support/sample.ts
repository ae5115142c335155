/** `npm run test:long` takes every case. */
export const isWhole = process.env['TEST_WHOLE'] === '1';

/**
 * Returns a function that says whether a case runs: one in `every` cases, and all of them in a long run. If cases form a table, a prime
 * number picks some of each row and of each column.
 */
export function oneOf(every: number, first = 0): () => boolean {
    let index = 0;
    return () => isWhole || index++ % every === first;
}
