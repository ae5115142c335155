/** `1 credit`, `3 credits`: a number and what it counts, as messages say it. */
export function counted(count: number, one: string, many = `${one}s`): string {
    return `${count} ${count === 1 ? one : many}`;
}
