/** What stands in an Authorization header as a bearer key, whatever it is worth; undefined where nothing of this form does. */
export function bearerKey(header: string): string | undefined {
    return /^bearer ([\x21-\x7e]{1,256})$/i.exec(header.trim())?.[1];
}
