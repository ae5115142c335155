/** Runs each of several transactions when it is its turn among those of other callers. */
export type InTurn = <Result>(step: () => Promise<Result>) => Promise<Result>;

/** For work that has no other callers beside it. */
export const withoutTurns: InTurn = (step) => step();
