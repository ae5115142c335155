/** Items of one query. */
const ROWS = 1000;
/** Characters of one write. A write of each line would take as long as its text. */
const WRITE = 64 * 1024;

/** Writes the ended items of a batch as lines, in pieces. The piece before an item that cannot be presented is written without it. */
export async function* resultLines<Row extends { endNumber: number }>(
    read: (after: number, limit: number) => Promise<Row[]>,
    present: (row: Row) => Promise<string>,
    { from, maxItems, gone }: { from: number; maxItems: number; gone: AbortSignal },
): AsyncGenerator<string> {
    let after = from;
    for (let left = maxItems; left > 0 && !gone.aborted; ) {
        const rows = await read(after, Math.min(left, ROWS));
        let piece = '';
        try {
            for (const row of rows) {
                piece += `${oneLine(await present(row))}\n`;
                if (piece.length < WRITE) continue;
                const full = piece;
                piece = '';
                yield full;
                if (gone.aborted) return;
            }
        } catch (error) {
            if (piece !== '') yield piece;
            throw error;
        }
        if (piece !== '') yield piece;
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.endNumber;
        left -= rows.length;
    }
}

/** Data keeps the text of the site, which may be indented. JSON has line breaks only between its tokens. */
function oneLine(json: string): string {
    return json.replaceAll(/[\r\n]+/g, ' ');
}
