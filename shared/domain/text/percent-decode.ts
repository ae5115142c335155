/** Percent-decodes a text; one that is not valid UTF-8 stays encoded. */
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
