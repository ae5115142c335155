export type Cell = string | number | boolean | Date | null | undefined;

/** Spreadsheets run a cell with this beginning as a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;

/** One line of a CSV file (RFC 4180). Texts never begin like a formula; figures stay figures. */
export function csvLine(cells: readonly Cell[]): string {
    return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Characters of a cell that are quoted at a time: those of an answer of 5 MB take half a second. */
const PART = 32 * 1024;

/** A line whose last cell may be long, in parts. */
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

/** Prefixes a text that a spreadsheet would run as a formula. */
function mark(text: string): string {
    return FORMULA.test(text) ? "'" : '';
}
