const SECOND_MS = 1000;

/** Whether one more of a name fits into the running second. @param most 0: any number does */
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
