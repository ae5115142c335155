import papaparse from 'papaparse';
import type { CsvFormat, JsonObject } from '../../shared/domain/types.ts';
import { nameColumns } from './columns.ts';
import { InvalidResponse } from './invalid-response.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/**
 * The rows of CSV as `{items: [{column: value}]}`. All values are texts. Empty lines are skipped, and a short row lacks its last columns.
 * @throws InvalidResponse for unclosed quotes and for a page of HTML
 */
export function readCsv(text: string, { delimiter = '', header = true, columns = [] }: CsvFormat = {}): { items: JsonObject[] } {
    if (/^\s{0,100}<(?:!doctype\s+html|html)\b/i.test(text)) throw new InvalidResponse('The answer is a page of HTML, and no CSV.');
    const { data: rows, errors } = papaparse.parse<string[]>(text, { delimiter, delimitersToGuess: DELIMITERS, skipEmptyLines: true });
    const fault = errors.find(({ type }) => type === 'Quotes');
    if (fault !== undefined) throw new InvalidResponse(`Row ${(fault.row ?? 0) + 1} of the answer has quotes that do not end.`);
    const nameOf = nameColumns(columns.length > 0 ? columns : header ? (rows[0] ?? []) : []);
    const items = (header ? rows.slice(1) : rows).map((row) => Object.fromEntries(row.map((value, place) => [nameOf(place), value])));
    return { items };
}
