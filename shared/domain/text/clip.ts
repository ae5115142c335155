/** Cuts a text to `max` characters. The last one is then an ellipsis. */
export function clip(text: string, max: number): string {
    return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}
