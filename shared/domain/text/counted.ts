/** A number with its noun, for messages: `1 credit`, `3 credits`. */
export function counted(count: number, one: string, many = `${one}s`): string {
    return `${count} ${count === 1 ? one : many}`;
}
