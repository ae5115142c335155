/** A number with its noun, for messages: `1 credit`, `3 credits`. */
export function counted(count: number, one: string): string {
    return `${count} ${one}${count === 1 ? '' : 's'}`;
}
