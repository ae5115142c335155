/** Quotes any text as one word of a POSIX shell. */
export function shellWord(text: string): string {
    return `'${text.replaceAll("'", `'\\''`)}'`;
}
