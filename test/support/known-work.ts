const TEXT = JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id, name: `item number ${id}`, tags: ['a', 'b', id] })));

/** The milliseconds of CPU that the known work takes on a quiet machine with slow cores. */
export const KNOWN_MS = 25;

/** A fixed amount of work. Its duration shows how slow the machine is at that moment. */
export function doKnownWork(): void {
    for (let times = 0; times < 20; times++) JSON.stringify(JSON.parse(TEXT));
}
