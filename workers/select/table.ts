import type { CheerioAPI } from 'cheerio';
import type { JsonObject } from '../../shared/domain/types.ts';
import { InvalidResponse, TOO_MUCH_WORK } from './invalid-response.ts';

type Matches = ReturnType<CheerioAPI>;

/** Maximum number of cells of a table. A cell that spans several places counts several times. */
const MAX_CELLS = 200_000;

/** Maximum number of columns that HTML lets a cell span. */
const MAX_SPAN = 1000;

/**
 * The rows of a table as objects; the first row names the columns. If every row begins with its own header, there is no such row, and the
 * columns have no names. A cell that spans several columns or rows appears in all of them.
 * @throws InvalidResponse for too many cells
 */
export function tableOf(table: Matches): JsonObject[] {
    const elements = [...rowsOf(table)];
    const cells = cellsOf(elements);
    const header = elements.every(hasOwnHeader) ? [] : cells.shift();
    const nameOf = nameColumns(header ?? []);
    return cells.map((row) => Object.fromEntries([...row].map((text = '', place) => [nameOf(place), text])));
}

/** Whether a row is `<tr><th>Weight</th><td>3 kg</td></tr>`, as in a table of properties. */
function hasOwnHeader(row: Matches): boolean {
    return row.children().first().is('th') && row.children('td').length > 0 && !row.parent().is('thead');
}

function cellsOf(elements: readonly Matches[]): string[][] {
    const rows: string[][] = [];
    /** For each column, the text of a cell that spans into the next rows, and the number of these rows. */
    let above = new Map<number, { text: string; left: number }>();
    let count = 0;
    let group: Matches[number]['parent'] = null;
    for (const row of elements) {
        // No cell spans beyond its thead, tbody or tfoot.
        const parent = row[0]?.parent ?? null;
        if (parent !== group) above = new Map();
        group = parent;
        const texts: string[] = [];
        const below: typeof above = new Map();
        const put = (text: string, rowsLeft: number): void => {
            if (++count > MAX_CELLS) throw new InvalidResponse(TOO_MUCH_WORK);
            if (rowsLeft > 0) below.set(texts.length, { text, left: rowsLeft });
            texts.push(text);
        };
        const putSpanned = (): void => {
            for (let one = above.get(texts.length); one !== undefined; one = above.get(texts.length)) put(one.text, one.left - 1);
        };
        for (const element of row.children('td,th')) {
            putSpanned();
            const cell = row._make([element]);
            const text = String(cell.prop('textContent')).replaceAll(/\s+/g, ' ').trim();
            // 0: all rows that follow in the group.
            const height = cell.attr('rowspan')?.trim() === '0' ? MAX_CELLS : spanOf(cell, 'rowspan');
            for (let i = spanOf(cell, 'colspan'); i > 0; i--) put(text, height - 1);
        }
        putSpanned();
        above = below;
        if (texts.length > 0) rows.push(texts);
    }
    return rows;
}

function* rowsOf(table: Matches): Generator<Matches> {
    for (const child of table.children()) {
        const element = table._make([child]);
        if (element.is('tr')) yield element;
        else if (element.is('thead,tbody,tfoot')) for (const row of element.children('tr')) yield table._make([row]);
    }
}

function spanOf(cell: Matches, name: string): number {
    return Math.min(MAX_SPAN, Math.max(1, Number.parseInt(cell.attr(name) ?? '1', 10) || 1));
}

/**
 * Names the columns of a table by its header. A column without a name, or with the name of an earlier column, is named by its place,
 * counted from 1: `column_2`.
 * @returns the name of a column by its place, counted from 0; also of columns that the header does not have
 */
export function nameColumns(header: readonly string[]): (place: number) => string {
    const names: string[] = [];
    const taken = new Set<string>();
    return (wanted) => {
        for (let place = names.length; place <= wanted; place++) {
            const written = header[place]?.trim() ?? '';
            let name = written === '' || taken.has(written) ? `column_${place + 1}` : written;
            while (taken.has(name)) name += '_';
            taken.add(name);
            names.push(name);
        }
        return names[wanted] ?? '';
    };
}
