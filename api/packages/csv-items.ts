import papaparse from 'papaparse';
import { readTyped } from '../../shared/domain/json/typed-text.ts';
import type { JsonSchema } from '../../shared/domain/types.ts';

/** How the columns of a file map to params. */
export interface CsvOrder {
    text: string;
    params: readonly { name: string; schema: JsonSchema | undefined }[];
    /** The param of each column, `custom_id`, or `''` to leave the column out. If undefined, the names of the columns decide. */
    columns?: readonly string[] | undefined;
    /** The header row for which `columns` was chosen. If the file has another one, the names of its columns decide. */
    head?: string | undefined;
}

export type CsvItems =
    | { ok: false; problem: string }
    | {
          ok: true;
          head: string[];
          columns: string[];
          /** The items as a JSON array. */
          items: string;
          count: number;
          /** The line of the file on which each item starts. */
          lines: number[];
          /** The first rows of the file, unchanged. */
          first: string[][];
      };

/** The column with the name of an item. It is no param. */
export const ITEM_NAME = 'custom_id';
export const MAX_COLUMNS = 100;
const DELIMITERS = [',', ';', '\t', '|'];
const NEWLINES = ['\r\n', '\n', '\r'] as const;
/** How many characters show what separates the cells. */
const SAMPLE = 16_384;
const FIRST = 5;
/** Maximum length of a cell that is parsed as JSON. Longer ones could be nested too deeply to be serialized again. */
const MAX_JSON = 10_000;

/** Converts the rows of a CSV file to items, at most `max`. Cells are parsed by the schemas of their params; empty ones are left out. */
export function itemsOfCsv({ text, params, columns: chosen, head: known }: CsvOrder, max: number): CsvItems {
    const file = text.replace(/^\uFEFF/, '');
    const garbled = file.indexOf('\uFFFD');
    if (garbled !== -1) return { ok: false, problem: `Line ${1 + breaksIn(file.slice(0, garbled))} ${NOT_UTF8}` };
    const { delimiter, linebreak } = papaparse.parse(file.slice(0, SAMPLE), { delimitersToGuess: DELIMITERS }).meta;
    const broken = brokenQuote(file, delimiter, linebreak);
    if (broken !== undefined) return { ok: false, problem: `Line ${1 + breaksIn(file.slice(0, broken.at))} ${broken.fault}` };
    const newline = NEWLINES.find((one) => one === linebreak) ?? '\n';
    const rows = withLines(papaparse.parse<string[]>(file, { delimiter, newline }).data);
    const [first, ...items] = rows;
    if (first === undefined || items.length === 0) {
        return { ok: false, problem: 'There are no rows: the first line names the columns, and each further one is a call.' };
    }
    if (items.length > max) {
        const many = items.length.toLocaleString('en');
        return {
            ok: false,
            problem: `There are ${many} rows, and this form takes ${max.toLocaleString('en')}. The command line takes more.`,
        };
    }
    const head = first.cells.map((cell) => cell.trim());
    if (head.length > MAX_COLUMNS) return { ok: false, problem: `There are more than ${MAX_COLUMNS} columns.` };
    const wide = items.find(({ cells }) => cells.some((cell, place) => place >= head.length && cell.trim() !== ''));
    if (wide !== undefined) return { ok: false, problem: `Line ${wide.line} ${TOO_WIDE}` };
    const byName = new Map(params.map((param) => [param.name, param]));
    const isSame = known === JSON.stringify(head);
    const columns = head.map((column, place) => {
        const name = isSame ? (chosen?.[place] ?? '') : guess(column, params);
        return name === ITEM_NAME || byName.has(name) ? name : '';
    });
    const twice = columns.find((name, place) => name !== '' && columns.indexOf(name) !== place);
    if (twice !== undefined) return { ok: false, problem: `Two columns are ${twice}. Leave one out.` };
    const texts = items.map(({ cells }) => JSON.stringify(itemOf(cells, columns, byName)));
    return {
        ok: true,
        head,
        columns,
        items: `[${texts.join(',')}]`,
        count: items.length,
        lines: items.map(({ line }) => line),
        first: items.slice(0, FIRST).map(({ cells }) => head.map((_, place) => cells[place] ?? '')),
    };
}

function itemOf(cells: readonly string[], columns: readonly string[], params: ReadonlyMap<string, CsvOrder['params'][number]>): object {
    const filled = columns.flatMap((column, place) => (column === '' || !cells[place] ? [] : [[column, cells[place]] as const]));
    const values = filled.filter(([column]) => column !== ITEM_NAME);
    return {
        params: Object.fromEntries(values.map(([column, cell]) => [column, readCell(cell, params.get(column)?.schema)])),
        custom_id: filled.find(([column]) => column === ITEM_NAME)?.[1],
    };
}

/** The browser has replaced the characters that it could not read, and the calls would be made with them. */
const NOT_UTF8 = 'has a character that cannot be read. Save the file as UTF-8; spreadsheets call it “CSV UTF-8”.';
const NOT_CLOSED = 'has quotes that do not end.';
const NOT_WHOLE = 'goes on after a closing quote: quotes enclose a whole cell, and a quote within them is written twice.';

/** A delimiter within a value without quotes ends the value: the call would be made with a part of it. */
const TOO_WIDE = 'has more values than the first line has columns. Put quotes around a value that has a delimiter in it.';

/** Finds a quoted cell that does not end properly: the parser would read on behind each such quote, for hours in a file of 4 MiB. */
function brokenQuote(text: string, delimiter: string, linebreak: string): { at: number; fault: string } | undefined {
    const ends = `[${delimiter}]|${linebreak}`;
    const nextEnd = new RegExp(ends, 'g');
    const endBehindSpaces = new RegExp(`(?:(?!${ends})\\s)*(?:${ends})`, 'y');
    for (let at = 0; at < text.length; ) {
        const isQuoted = text[at] === '"';
        let close = at;
        if (isQuoted) {
            close = text.indexOf('"', at + 1);
            while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
            if (close === -1) return { at, fault: NOT_CLOSED };
            close += 1;
            if (close === text.length) return undefined;
        }
        const end = isQuoted ? endBehindSpaces : nextEnd;
        end.lastIndex = close;
        if (!end.test(text)) return isQuoted ? { at: close, fault: NOT_WHOLE } : undefined;
        at = end.lastIndex;
    }
    return undefined;
}

/** The rows that are not empty, each with the line on which it starts. A quoted cell may span several lines. */
function withLines(data: readonly string[][]): { cells: string[]; line: number }[] {
    let line = 1;
    const rows: { cells: string[]; line: number }[] = [];
    for (const cells of data) {
        if (cells.some((cell) => cell !== '')) rows.push({ cells, line });
        line += 1 + cells.reduce((sum, cell) => sum + breaksIn(cell), 0);
    }
    return rows;
}

function breaksIn(cell: string): number {
    let breaks = 0;
    for (let at = cell.indexOf('\n'); at !== -1; at = cell.indexOf('\n', at + 1)) breaks += 1;
    return breaks;
}

function guess(column: string, params: CsvOrder['params']): string {
    if (params.some(({ name }) => name === column)) return column;
    const plain = plainName(column);
    return params.find(({ name }) => plainName(name) === plain)?.name ?? (plain === plainName(ITEM_NAME) ? ITEM_NAME : '');
}

function plainName(name: string): string {
    return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Parses a cell as JSON if the schema allows no strings. One that cannot be parsed stays a text, so that the API reports its problem. */
function readCell(cell: string, schema: JsonSchema | undefined): unknown {
    const type = typeof schema === 'object' ? schema['type'] : 'string';
    const types = Array.isArray(type) ? type : [type];
    if (types.includes('string') || cell.length > MAX_JSON) return cell;
    const parsed = readTyped(cell, types);
    const value = parsed === undefined ? cell : parsed;
    return types.includes('array') && !Array.isArray(value) ? [value] : value;
}
