/** Stores the full text of results that were cut, for a day. Only the account that owns a result can read it. */
export interface FullResults {
    /** Returns the id of the stored text; undefined if it could not be stored. */
    keep(text: string): Promise<string | undefined>;
    read(id: string): Promise<string | undefined>;
}

/** Page size in characters. */
const PAGE = 8000;
const URI = /^routebook:\/\/results\/([0-9A-Za-z_]{1,64})\?from=(\d{1,9})$/;

/** The address of a stored result, beginning at this character. */
export function resultUri(id: string, from = 0): string {
    return `routebook://results/${id}?from=${from}`;
}

/** Reads one page of a stored result, and returns the address of the next page. Undefined if the address is not that of a stored result. */
export async function readResultPage(fullResults: FullResults, uri: string): Promise<{ text: string; next: string | null } | undefined> {
    const [, id = '', from = ''] = URI.exec(uri) ?? [];
    const whole = id === '' ? undefined : await fullResults.read(id);
    if (whole === undefined) return undefined;
    const end = Number(from) + PAGE;
    return { text: whole.slice(Number(from), end).toWellFormed(), next: end < whole.length ? resultUri(id, end) : null };
}
