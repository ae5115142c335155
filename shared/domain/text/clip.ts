/** Cuts a text to `most` characters. The last one is then an ellipsis. */
export function clip(text: string, most: number): string {
    return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
