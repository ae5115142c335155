import { HOSTILE_PACKAGES as READ, type HostilePackage as ReadPackage } from '../packages.ts';
import { PAGING_PACKAGES } from '../paging.ts';
import { HOSTILE_PACKAGES as CHECKED, type HostilePackage as CheckedPackage } from '../requests.ts';
import type { Scale } from './bomb-site.ts';

/** The rows of the matrix for a run: hostile rows, at these scales, on every surface that calls or checks packages. */
export interface Rows {
    scales: readonly Scale[];
    /** Responses that take long to read, by a fetch. */
    fetched: readonly ReadPackage[];
    /** The same by a verification run, the command line, an agent and a page. */
    read: readonly ReadPackage[];
    /** Packages and params that take long to check. */
    checked: readonly CheckedPackage[];
    /** The number of values in the largest response of small values. */
    values: number;
    /** Whether goal X1 is checked in milliseconds, beside the machine-independent limits. */
    isTimed: boolean;
}

/** The maximum number of one-digit values in a body. */
const MAX_VALUES = 2_500_000;

/** For `npm run test:long`. */
export const ALL_ROWS: Rows = {
    scales: ['half', 'whole', 'double'],
    fetched: [...READ, ...PAGING_PACKAGES],
    read: READ,
    checked: CHECKED,
    values: MAX_VALUES,
    isTimed: true,
};

/** For `npm test`: each kind of row by one fetch, and a sample of them elsewhere. */
export const FEW_ROWS: Rows = {
    ...ALL_ROWS,
    scales: ['whole'],
    values: 1_000_000,
    isTimed: false,
    fetched: [...READ, ...PAGING_PACKAGES].filter(({ isVariant, isSample }) => isVariant !== true || isSample),
    read: READ.filter(({ isSample }) => isSample === true),
    checked: CHECKED.filter(({ isSample }) => isSample),
};
