/** What stands in an Authorization header as a bearer key, whatever it is worth; undefined where nothing of this form does. */
export function bearerKey(header: string): string | undefined {
    // One space or more, as RFC 9110 has it (section 11.4).
    return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header.trim())?.[1];
}
