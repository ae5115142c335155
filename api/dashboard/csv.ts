export type Cell = string | number | boolean | Date | null | undefined;

/** What a spreadsheet would run as a formula, when it opens the file. */
const FORMULA = /^[=+\-@\t\r\n]/;

/** One line of a CSV file (RFC 4180). Texts never begin like a formula; figures stay figures. */
export function csvLine(cells: readonly Cell[]): string {
    return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
    if (cell === null || cell === undefined) return '';
    if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
    const text = cell instanceof Date ? cell.toISOString() : FORMULA.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
