import type { Target } from '../../test/hostile/stranger.ts';

/** What a process of strangers does; it crosses to it as JSON. */
export interface StrangerPlan extends Omit<Target, 'begun'> {
    /** Name of a row of the tables. */
    row: string;
    /** Instead, a package that selects nothing of answers of the same size. */
    isPlain: boolean;
}

/** Begins the line in which strangers who were stopped tell how often they heard each status. */
export const HEARD = 'heard: ';
