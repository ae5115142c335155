/**
 * Whether a text has 1 to `max` characters and consists of visible ASCII with inner spaces. A site could interpret any other text as
 * another header.
 */
export function isVisibleAscii(text: string, max: number): boolean {
    return text.length <= max && /^[!-~]+(?: +[!-~]+)*$/.test(text);
}
