/** Whether a text is 1 to `most` characters of visible ASCII with inner spaces: whatever else reaches a site may be read as another header. */
export function isVisibleAscii(text: string, most: number): boolean {
    return text.length <= most && /^[!-~]+(?: +[!-~]+)*$/.test(text);
}
