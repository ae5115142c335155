/** Percent-decodes a text. Leaves it unchanged if the result is not valid UTF-8. */
export function percentDecode(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** Decodes a name or value of a query, where `+` is a space. */
export function decodeQueryPart(text: string): string {
    return percentDecode(text.replaceAll('+', ' '));
}
