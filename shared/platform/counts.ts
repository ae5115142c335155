/** Creates counts by name. A name whose count is 0 takes no memory. */
export function createCounts() {
    const counts = new Map<string, number>();
    return {
        of: (name: string): number => counts.get(name) ?? 0,
        add(name: string, change: number): void {
            const count = (counts.get(name) ?? 0) + change;
            if (count === 0) counts.delete(name);
            else counts.set(name, count);
        },
    };
}
