/** Where what does not fit into a result is kept, for a day, for the account of the result alone. */
export interface Rests {
    /** The id of the kept text; undefined where it cannot be kept. */
    keep(text: string): Promise<string | undefined>;
    read(id: string): Promise<string | undefined>;
}

/** Characters of a page. */
const PAGE = 8000;
const URI = /^routebook:\/\/results\/([0-9A-Za-z_]{1,64})\?from=(\d{1,9})$/;

/** The address of a part of a kept result. */
export function restUri(id: string, from = 0): string {
    return `routebook://results/${id}?from=${from}`;
}

/** One page: a piece of the JSON text of the result, and where the next one is; undefined for no address of ours. */
export async function readRest(rests: Rests, uri: string): Promise<{ text: string; next: string | null } | undefined> {
    const [, id = '', from = ''] = URI.exec(uri) ?? [];
    const whole = id === '' ? undefined : await rests.read(id);
    if (whole === undefined) return undefined;
    const end = Number(from) + PAGE;
    return { text: whole.slice(Number(from), end).toWellFormed(), next: end < whole.length ? restUri(id, end) : null };
}
