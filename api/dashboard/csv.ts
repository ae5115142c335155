export type Cell = string | number | boolean | Date | null | undefined;

/**
 * The place before a formula that a spreadsheet would run; some take the wide forms of `=`, `+`, `-` and `@` too. Where commas write
 * decimals, spreadsheets begin a new cell at each semicolon.
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
        yield (at === 0 ? withMarks(part) : part).replaceAll('"', '""');
    }
    yield '"\r\n';
}

function withoutSemicolons(json: string): string {
    return json.replaceAll(';', '\\u003b');
}

function csvCell(cell: Cell): string {
    if (cell === null || cell === undefined) return '';
    if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
    const text = cell instanceof Date ? cell.toISOString() : withMarks(cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text with a prefix before each formula. */
function withMarks(text: string): string {
    return text.replaceAll(FORMULA, "$1'");
}
