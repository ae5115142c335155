import type { Download } from './download.ts';

export type Cell = string | number | boolean | Date | null | undefined;

/** Maximum number of rows of a list in a file. `FILE_STEP` is that of one query. */
const FILE_ROWS = 50_000;
const FILE_STEP = 1000;
/** Maximum number of queries for a file. Each reads a bounded number of rows. */
const FILE_STEPS = 400;

type RowsAfter<Place> = (page: { limit: number; before: Place | undefined }) => Promise<{ rows: Cell[][]; next: Place | undefined }>;

/** Downloads a list as CSV. @param read the rows after a position; the first ones without it */
export function csvFile<Place>(file: string, heads: readonly string[], read: RowsAfter<Place>): Download {
    return { file, type: 'text/csv; charset=utf-8', lines: linesOf(heads, read) };
}

async function* linesOf<Place>(heads: readonly string[], read: RowsAfter<Place>): AsyncGenerator<string> {
    yield csvLine(heads);
    let before: Place | undefined;
    let left = FILE_ROWS;
    for (let step = 0; step < FILE_STEPS && left > 0; step++) {
        const { rows, next } = await read({ limit: Math.min(FILE_STEP, left), before });
        yield rows.map(csvLine).join('');
        if (next === undefined) return;
        left -= rows.length;
        before = next;
    }
}

/**
 * The position before a formula that a spreadsheet would run. Some also accept the full-width forms of `=`, `+`, `-` and `@`. Where the
 * decimal separator is a comma, spreadsheets start a new cell at each semicolon.
 */
const FORMULA = /(^|;)(?=["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/g;

/** One line of a CSV file (RFC 4180). Texts that look like a formula get a prefix; numbers stay unchanged. */
export function csvLine(cells: readonly Cell[]): string {
    return `${cells.map(csvCell).join(',')}\r\n`;
}

/** How many characters of a cell are quoted at a time. Quoting a cell of 5 MB takes half a second. */
const PART = 32 * 1024;

/** Yields one line in parts, since its last cell, which is JSON, may be long. JSON can escape semicolons, so no cell begins there. */
export function* csvLineInParts(cells: readonly Cell[], json: string): Generator<string> {
    yield `${cells.map(csvCell).join(',')},`;
    if (json.length <= PART) return yield `${csvCell(withoutSemicolons(json))}\r\n`;
    yield '"';
    for (let at = 0; at < json.length; at += PART) {
        const part = withoutSemicolons(json.slice(at, at + PART));
        yield (at === 0 ? escapeFormulas(part) : part).replaceAll('"', '""');
    }
    yield '"\r\n';
}

function withoutSemicolons(json: string): string {
    return json.replaceAll(';', '\\u003b');
}

function csvCell(cell: Cell): string {
    if (cell === null || cell === undefined) return '';
    if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
    const text = cell instanceof Date ? cell.toISOString() : escapeFormulas(cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text with a prefix before each formula. */
function escapeFormulas(text: string): string {
    return text.replaceAll(FORMULA, "$1'");
}
