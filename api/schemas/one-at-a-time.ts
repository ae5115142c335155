import { type Lane, openLane } from '../lane.ts';

/** The lane of packages that are judged. */
export const oneAtATime: Lane = openLane();
