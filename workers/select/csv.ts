import papaparse from 'papaparse';
import { isJson } from '../../shared/domain/json/is-json.ts';
import type { CsvFormat, JsonObject } from '../../shared/domain/types.ts';
import { InvalidResponse } from './invalid-response.ts';
import { nameColumns } from './table.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/** The line before the header with which Excel is told the delimiter. */
const SEPARATOR = /^"?sep=(.)"?\r?\n/i;

/**
 * The rows of CSV as `{items: [{column: value}]}`. All values are texts. Empty lines are skipped, and a short row lacks its last columns.
 * @throws InvalidResponse for unclosed quotes, for a page of HTML and for JSON
 */
export function readCsv(answer: string, { delimiter, header = true, columns = [] }: CsvFormat = {}): { items: JsonObject[] } {
    const rows = readRows(answer, { header, ...(delimiter === undefined ? {} : { delimiter }) });
    return { items: nameCells(header ? rows.slice(1) : rows, columns.length > 0 ? columns : header ? (rows[0] ?? []) : []) };
}

/** The cells of each row by the names of their columns. */
export function nameCells(rows: readonly string[][], header: readonly string[]): JsonObject[] {
    const nameOf = nameColumns(header);
    return rows.map((row) => Object.fromEntries(row.map((value, place) => [nameOf(place), value])));
}

/** The rows of CSV, the header too. @throws InvalidResponse as `readCsv` does */
export function readRows(answer: string, { delimiter: declared = '', header = true }: CsvFormat = {}): string[][] {
    if (/^\s{0,100}<(?:!doctype\s+html|html)\b/i.test(answer)) throw new InvalidResponse('The answer is a page of HTML, and no CSV.');
    if (isObjectOrList(answer)) throw new InvalidResponse('The answer is JSON, and no CSV.');
    const [hint = '', hinted] = SEPARATOR.exec(answer) ?? [];
    const behind = answer.slice(hint.length);
    // The parser takes one of the line ends that a file mixes, which is safe to avoid where no value in quotes has any.
    const text = behind.includes('"') ? behind : behind.replaceAll(/\r\n?/g, '\n');
    const delimiter = declared === '' ? (hinted ?? '') : declared;
    const delimitersToGuess = hasDecimalCommas(text, header) ? DELIMITERS.filter((one) => one !== ',') : DELIMITERS;
    const { data, errors } = papaparse.parse<string[]>(text, { delimiter, delimitersToGuess, skipEmptyLines: true });
    const fault = errors.find(({ type }) => type === 'Quotes');
    if (fault !== undefined) {
        const what = fault.code === 'InvalidQuotes' ? 'goes on after a closing quote' : 'has quotes that do not end';
        throw new InvalidResponse(`Row ${(fault.row ?? 0) + 1} of the answer ${what}.`);
    }
    return data[0]?.length === 1 && /^""/m.test(text) ? rowsOfOneColumn(text, { delimiter, delimitersToGuess }) : data;
}

/**
 * Whether semicolons part the columns and commas begin fractions: each of the first lines has a semicolon, and below the header commas are
 * only inside numbers. The parser would guess the delimiter with the most columns.
 */
function hasDecimalCommas(text: string, hasHeader: boolean): boolean {
    const lines = text
        .slice(0, 4000)
        .split('\n', 10)
        .filter((line) => line.trim() !== '');
    const rows = lines.slice(hasHeader ? 1 : 0);
    return rows.length > 0 && lines.every((line) => line.includes(';')) && !rows.some((line) => /(?<!\d),|,(?!\d|$)/.test(line));
}

/** The rows of one column. The parser takes a row of an empty quoted value for an empty line, so they are told apart by their text. */
function rowsOfOneColumn(text: string, how: { delimiter: string; delimitersToGuess: string[] }): string[][] {
    const rows: string[][] = [];
    let start = 0;
    papaparse.parse<string[]>(text, {
        ...how,
        step({ data, meta }) {
            const isEmptyLine = data.length === 1 && data[0] === '' && !text.slice(start, meta.cursor).includes('"');
            if (!isEmptyLine) rows.push(data);
            start = meta.cursor;
        },
    });
    return rows;
}

/** Sites answer an error as JSON, whatever the endpoint expects. */
function isObjectOrList(text: string): boolean {
    return /^\s*[[{]/.test(text) && isJson(text);
}
