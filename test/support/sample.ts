/** `npm run test:long` takes every case. */
export const isWhole = process.env['TEST_WHOLE'] === '1';

/**
 * Whether a case is taken: of each so many that are asked for one, all of them in a long run. Where cases stand in rows and columns, a
 * prime takes some of each row and some of each column.
 */
export function oneOf(every: number, first = 0): () => boolean {
    let index = 0;
    return () => isWhole || index++ % every === first;
}
