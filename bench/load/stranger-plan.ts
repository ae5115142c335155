import type { Target } from '../../test/hostile/stranger.ts';

/** The plan of a process of strangers, passed to it as JSON. */
export interface StrangerPlan extends Omit<Target, 'begun'> {
    /** The name of a row in the tables of strangers. */
    row: string;
    /** Instead use a package that selects nothing, with answers of the same size. */
    isPlain: boolean;
}

/** Beginning of the line in which stopped strangers print how often they received each status. */
export const HEARD = 'heard: ';
