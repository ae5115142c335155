/** The size of the intersection divided by that of the union; 1 for two empty sets. */
export function jaccardIndex<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): number {
    if (a.size + b.size === 0) return 1;
    const common = [...a].filter((one) => b.has(one)).length;
    return common / (a.size + b.size - common);
}
