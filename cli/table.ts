import type { Paint } from './terminal.ts';

const GAP = '  ';
/** The minimal width of the last column. */
const MIN_LAST = 12;

/**
 * Formats a table with dim headers; null is a dash. Cells are plain text; `style` colours them.
 * @param width of the terminal; the last column is cut to fit
 */
export function table(
    heads: readonly string[],
    rows: readonly (readonly (string | number | null)[])[],
    paint: Paint,
    style: (padded: string, column: number) => string = (padded) => padded,
    width = Number.POSITIVE_INFINITY,
): string[] {
    const cells = rows.map((row) => row.map((cell) => String(cell ?? '-')));
    const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)));
    const left = Math.max(MIN_LAST, width - widths.slice(0, -1).reduce((sum, one) => sum + one + GAP.length, 0));
    const cut = (cell: string) => ([...cell].length > left ? `${[...cell].slice(0, left - 1).join('')}…` : cell);
    const line = (row: readonly string[], styled: (padded: string, column: number) => string) =>
        row
            .map((cell, column) => styled(column === row.length - 1 ? cut(cell) : cell.padEnd(widths[column] ?? 0), column))
            .join(GAP)
            .trimEnd();
    return [line(heads, (head) => paint('dim', head)), ...cells.map((row) => line(row, style))];
}

/** Formats one line for each name and value. Lines without a value are left out. */
export function fieldLines(fields: readonly (readonly [name: string, value: string | number | null])[], paint: Paint): string[] {
    return fields.filter(([, value]) => value !== null).map(([name, value]) => `${paint('dim', name.padEnd(12))}${value}`);
}
