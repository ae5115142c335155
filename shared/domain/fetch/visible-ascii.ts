/** Whether a text is 1 to `max` visible ASCII characters and inner spaces. Sites may read any other text as another header. */
export function isVisibleAscii(text: string, max: number): boolean {
    return text.length <= max && /^[!-~]+(?: +[!-~]+)*$/.test(text);
}
