const SECOND_MS = 1000;

/** Counts a name within the current second and returns whether it is below the limit. @param most 0: no limit */
export function createSecondWindow(most: number): (name: string) => boolean {
    const counts = new Map<string, number>();
    let endsAt = 0;
    return (name) => {
        if (most === 0) return true;
        const now = performance.now();
        if (now >= endsAt) {
            counts.clear();
            endsAt = now + SECOND_MS;
        }
        const count = counts.get(name) ?? 0;
        counts.set(name, count + 1);
        return count < most;
    };
}
