import { stripVTControlCharacters } from 'node:util';

const GAP = '  ';
/** The minimal width of a column that is cut. */
const MIN_CUT = 12;
/** The width of the names of fields. */
const NAMES = 12;

type Cell = string | number | null;

/** Where a table is shown. */
export interface Page {
    paint(style: 'dim', text: string): string;
    /** The width of tables; unlimited for pipes and files. */
    tableWidth: number;
}

/**
 * Formats a table with dim headers; null is a dash. Pipes and files get every column in full. A terminal gets what fits: times to the
 * minute, no empty columns, as many columns as there is room for, and the last of these cut, though never in the id it begins with.
 * @param heads the most important column first
 * @param rows cells of plain text
 * @param style colours a cell
 */
export function table(
    heads: readonly string[],
    rows: readonly (readonly Cell[])[],
    { paint, tableWidth: width }: Page,
    style: (padded: string, head: string) => string = (padded) => padded,
): string[] {
    const isTerminal = Number.isFinite(width);
    const shown: { head: string; cells: string[]; columns: number }[] = [];
    let left = width;
    for (const [index, head] of heads.entries()) {
        const values = rows.map((row) => row[index] ?? null);
        if (isTerminal && values.length > 0 && values.every((value) => value === null)) continue;
        const texts = values.map((value) => String(value ?? '-'));
        const cells = isTerminal ? texts.map(toTheMinute) : texts;
        const natural = Math.max(head.length, ...cells.map((cell) => [...cell].length));
        // Other commands take what is in the first column, so it is never cut. Half a time would mislead.
        const least = cells.some((cell) => TO_THE_MINUTE.test(cell)) ? natural : Math.min(natural, Math.max(...cells.map(shortest)));
        const columns = index === 0 ? natural : Math.min(natural, left);
        if (columns < least) break;
        shown.push({ head, cells: cells.map((cell) => cut(cell, columns)), columns });
        left -= columns + GAP.length;
    }
    const line = (cellOf: (column: (typeof shown)[number]) => string, styled: (padded: string, head: string) => string) =>
        shown
            .map((column, index) => styled(index === shown.length - 1 ? cellOf(column) : pad(cellOf(column), column.columns), column.head))
            .join(GAP);
    return [
        line(
            ({ head }) => head,
            (head) => paint('dim', head),
        ),
        ...rows.map((_, number) => line(({ cells }) => cells[number] ?? '', style)),
    ];
}

function pad(cell: string, columns: number): string {
    return cell + ' '.repeat(Math.max(0, columns - [...cell].length));
}

function cut(cell: string, columns: number): string {
    const letters = [...cell];
    return letters.length > columns ? `${letters.slice(0, columns - 1).join('')}…` : cell;
}

/** How few columns may show a cell: an id stays whole, since other commands take it. */
function shortest(cell: string): number {
    const [id = ''] = /^[a-z]{3}_[0-9A-Za-z]+/.exec(cell) ?? [];
    return Math.max(MIN_CUT, id.length + 1);
}

const TO_THE_MINUTE = /^\d{4}-\d\d-\d\d \d\d:\d\dZ$/;

/** `2026-11-29 05:15Z` for a time in ISO 8601; other texts unchanged. */
export function toTheMinute(text: string): string {
    return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/, '$1 $2Z');
}

/** Formats a paragraph for each name and value, on a terminal with times to the minute. Those without a value are left out. */
export function fieldLines(
    fields: readonly (readonly [name: string, value: string | number | null])[],
    { paint, tableWidth }: Page,
): string[] {
    const shown = (value: string) => (Number.isFinite(tableWidth) ? toTheMinute(value) : value);
    return fields.flatMap(([name, value]) =>
        value === null ? [] : paragraph(paint('dim', name.padEnd(NAMES)), shown(String(value)), tableWidth, NAMES),
    );
}

/**
 * Breaks a text between words where the terminal ends. Pipes and files get one line.
 * @param head begins the first line, and may have colours
 * @param indent the spaces that begin the other lines
 */
export function paragraph(head: string, text: string, width: number, indent = head.length): string[] {
    if (!Number.isFinite(width)) return [head + text];
    const [first = '', ...words] = text.split(/\s+/u);
    const lines: string[] = [];
    let line = head + first;
    for (const word of words) {
        if ([...stripVTControlCharacters(line)].length + 1 + [...word].length <= width) line += ` ${word}`;
        else {
            lines.push(line);
            line = ' '.repeat(indent) + word;
        }
    }
    return [...lines, line];
}
