import { tryParseExact } from '../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, PackageParam } from '../../shared/domain/types.ts';
import { nameCells, readRows } from '../../workers/select/csv.ts';
import type { BatchItem } from '../client/index.ts';
import { CommandFault, wrongUsage } from '../failures.ts';
import { readParams } from '../package/read-params.ts';
import { readInput } from '../read-input.ts';
import type { Terminal } from '../terminal.ts';

/** The column or field with the id of an item. It is not a param. */
const NAME = 'custom_id';

/** Items of CSV, a JSON array or JSON lines. An object with `params` is an item of the API, any other the params of one. */
export async function readItems(
    terminal: Terminal,
    file: string,
    { map, params }: { map: ReadonlyMap<string, string>; params: readonly PackageParam[] },
): Promise<BatchItem[]> {
    const rows = rowsOf(file, await readInput(file, terminal), map);
    if (rows.values.length === 0) throw new CommandFault('NO_ITEMS', `${file} has no items.`);
    const known = new Set(params.map(({ name }) => name));
    const areTexts = rows.header !== undefined;
    if (rows.header !== undefined) {
        checkHeader(file, rows.header, map, known);
        // A short row lacks its last columns.
        checkColumns(file, [...new Set(rows.values.flatMap((row) => Object.keys(row as JsonObject)))], map, known);
    }
    const unsent = new Set<string>();
    const items = rows.values.map((row, at) => {
        if (!isObject(row)) throw new CommandFault('INVALID_ITEM', `Item ${at + 1} of ${file} is not an object.`);
        return areTexts || !isObject(row['params']) ? itemOf(row, { map, known, params, areTexts, unsent }) : (row as BatchItem);
    });
    if (unsent.size > 0)
        terminal.printError(`! not sent: ${[...unsent].join(', ')}. To send a column, map it to a param: --map column=param`);
    return items;
}

/** @throws CommandFault if two columns have the name of a param */
function checkHeader(file: string, header: readonly string[], map: ReadonlyMap<string, string>, known: ReadonlySet<string>): void {
    const isUsed = (column: string) => column === NAME || map.has(column) || known.size === 0 || known.has(column);
    const twice = header.find((column, place) => column !== '' && header.indexOf(column) !== place && isUsed(column));
    if (twice !== undefined) throw new CommandFault('REPEATED_COLUMN', `${file} has more than one column ${twice}. Keep one.`);
}

/** @throws CommandFault if a mapped column is missing, or no column is a param */
function checkColumns(file: string, columns: readonly string[], map: ReadonlyMap<string, string>, known: ReadonlySet<string>): void {
    const missing = [...map.keys()].find((column) => !columns.includes(column));
    if (missing !== undefined) throw wrongUsage(`${file} has no column ${missing}; it has ${columns.join(', ')}`);
    const isUsed = (column: string) => column === NAME || map.has(column) || known.has(column);
    if (known.size === 0 || columns.some(isUsed)) return;
    const names = [...known].join(', ');
    throw new CommandFault('NO_PARAMS', `No column of ${file} is a param of the endpoint (${names}). Map one: --map ${columns[0]}=param`);
}

/** `column=param` pairs, each column and each param once. */
export function readMap(pairs: readonly string[] = []): Map<string, string> {
    const map = new Map<string, string>();
    for (const pair of pairs) {
        const [, column = '', param = ''] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
        if (column === '') throw wrongUsage(`--map must be column=param, not ${JSON.stringify(pair)}`);
        if (map.has(column)) throw wrongUsage(`--map names the column ${column} twice`);
        if ([...map.values()].includes(param)) throw wrongUsage(`--map maps two columns to ${param}`);
        map.set(column, param);
    }
    return map;
}

interface Rows {
    values: Json[];
    /** The names of the columns of CSV, in which all values are texts. */
    header?: string[];
}

function rowsOf(file: string, text: string, map: ReadonlyMap<string, string>): Rows {
    const first = text.trimStart()[0];
    if (first === '[') return { values: parseJson(text, file) as Json[] };
    if (first === '{') {
        const lines = text.split('\n').map((line, at) => ({ line: line.trim(), at: at + 1 }));
        const values = lines.filter(({ line }) => line !== '').map(({ line, at }) => parseJson(line, `line ${at} of ${file}`));
        return { values };
    }
    try {
        const [header = [], ...rows] = readRows(text);
        checkWidths(file, header, rows, map);
        return { values: nameCells(rows, header), header: header.map((column) => column.trim()) };
    } catch (error) {
        if (error instanceof CommandFault) throw error;
        const message = error instanceof Error ? error.message : String(error);
        throw new CommandFault('INVALID_CSV', message.replace('of the answer', `of ${file}`));
    }
}

/**
 * Rejects rows that are wider than the header: an unquoted value with a delimiter would be sent only in part.
 * @throws CommandFault if a row has a value behind the last column of the header that no `--map column_<place>` uses
 */
function checkWidths(file: string, header: readonly string[], rows: readonly string[][], map: ReadonlyMap<string, string>): void {
    const isLost = (cell: string, place: number) => place >= header.length && cell.trim() !== '' && !map.has(`column_${place + 1}`);
    const wide = rows.findIndex((cells) => cells.some(isLost));
    if (wide === -1) return;
    const fault = `Row ${wide + 2} of ${file} has more values than the header has columns. Put quotes around a value that has a delimiter in it.`;
    throw new CommandFault('INVALID_CSV', fault);
}

function parseJson(text: string, what: string): Json {
    const value = tryParseExact(text);
    if (value === undefined) throw new CommandFault('INVALID_JSON', `${what} is not valid JSON.`);
    return value;
}

/** Maps columns to params by the map or by name; all columns if the params are unknown. Empty cells are omitted. */
function itemOf(
    row: JsonObject,
    {
        map,
        known,
        params,
        areTexts,
        unsent,
    }: {
        map: ReadonlyMap<string, string>;
        known: ReadonlySet<string>;
        params: readonly PackageParam[];
        areTexts: boolean;
        /** Gets the names of the columns that are neither params nor mapped. */
        unsent: Set<string>;
    },
): BatchItem {
    const values = new Map<string, Json>();
    let name: string | undefined;
    for (const [column, value] of Object.entries(row)) {
        const param = map.get(column) ?? column;
        // Another column has the value of this param.
        const isReplaced = !map.has(column) && [...map.values()].includes(param);
        if (!isReplaced && param === NAME) name = String(value);
        else if (isReplaced || !(map.has(column) || known.size === 0 || known.has(param))) unsent.add(column);
        else if (!(areTexts && value === '')) values.set(param, value);
    }
    const typed = areTexts
        ? readParams({ param: [...values].map(([param, value]) => `${param}=${String(value)}`) }, params)
        : Object.fromEntries(values);
    return { params: typed, ...(name === undefined || name === '' ? {} : { custom_id: name }) };
}
