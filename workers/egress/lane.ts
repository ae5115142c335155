/** A bound on how many do something at once: the others wait in the order in which they came. */
export interface Lane {
    /** Resolves when there is a place; each that enters leaves once. */
    enter(): Promise<void>;
    leave(): void;
}

/** @param places for so many at once */
export function openLane(places: number): Lane {
    const waiting: (() => void)[] = [];
    let free = places;
    return {
        async enter() {
            if (free > 0) free--;
            else await new Promise<void>((resolve) => waiting.push(resolve));
        },
        leave() {
            const next = waiting.shift();
            if (next === undefined) free++;
            else next();
        },
    };
}
