import type { Paint } from './terminal.ts';

/** Columns of equal width below dim heads; null is a dash. Cells are plain text, and are painted by `style` where it says so. */
export function table(
    heads: readonly string[],
    rows: readonly (readonly (string | number | null)[])[],
    paint: Paint,
    style: (padded: string, column: number) => string = (padded) => padded,
): string[] {
    const cells = rows.map((row) => row.map((cell) => String(cell ?? '-')));
    const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)));
    const line = (row: readonly string[], styled: (padded: string, column: number) => string) =>
        row
            .map((cell, column) => styled(column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0), column))
            .join('  ')
            .trimEnd();
    return [line(heads, (head) => paint('dim', head)), ...cells.map((row) => line(row, style))];
}
