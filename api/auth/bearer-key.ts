/** The bearer key of an Authorization header, unchecked; undefined where there is none. */
export function bearerKey(header: string): string | undefined {
    // One space or more, as RFC 9110 has it (section 11.4).
    return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header.trim())?.[1];
}
