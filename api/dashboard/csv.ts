export type Cell = string | number | boolean | Date | null | undefined;

/** Matches a cell that a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;

/** One line of a CSV file (RFC 4180). Texts that look like a formula get a prefix; numbers stay unchanged. */
export function csvLine(cells: readonly Cell[]): string {
    return `${cells.map(csvCell).join(',')}\r\n`;
}

/** How many characters of a cell are quoted at a time. Quoting a cell of 5 MB takes half a second. */
const PART = 32 * 1024;

/** Yields one line in parts, since its last cell may be long. */
export function* csvLineInParts(cells: readonly Cell[], last: string): Generator<string> {
    yield `${cells.map(csvCell).join(',')},`;
    if (last.length <= PART) return yield `${csvCell(last)}\r\n`;
    yield `"${mark(last)}`;
    for (let at = 0; at < last.length; at += PART) yield last.slice(at, at + PART).replaceAll('"', '""');
    yield '"\r\n';
}

function csvCell(cell: Cell): string {
    if (cell === null || cell === undefined) return '';
    if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
    const text = cell instanceof Date ? cell.toISOString() : mark(cell) + cell;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The prefix for a text that a spreadsheet would run as a formula; empty for other texts. */
function mark(text: string): string {
    return FORMULA.test(text) ? "'" : '';
}
