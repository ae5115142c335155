import { expressionFault } from './expressions.ts';
import type { Path, Report } from './report.ts';
import { selectorFault } from './selectors.ts';

const FORMS = ['table', 'microdata', 'assign', 'json'] as const;

/** The fields of each form of an entry that reads data in a page, in addition to `type` and `decimal`. */
const FIELDS: Readonly<Record<(typeof FORMS)[number], readonly string[]>> = {
    table: ['table'],
    microdata: ['microdata', 'path', 'type', 'decimal'],
    assign: ['assign', 'selector', 'json', 'of', 'type', 'decimal'],
    json: ['selector', 'value', 'json', 'of', 'type', 'decimal'],
};

const VARIABLE = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;
const MAX_NAME = 200;

/** Whether an entry of `select` for HTML reads data in the page: JSON, microdata or a table. */
export function isDataEntry(entry: object): boolean {
    return FORMS.some((form) => Object.hasOwn(entry, form));
}

/** Checks an entry that reads data. `type` and `decimal` are checked like those of every entry. */
export function checkDataEntry(entry: Record<string, unknown>, at: Path, report: Report): void {
    const form = FORMS.find((one) => Object.hasOwn(entry, one)) ?? 'json';
    for (const [key, value] of Object.entries(entry)) {
        if (!FIELDS[form].includes(key))
            report.add([...at, key], 'UNKNOWN_FIELD', `An entry with ${form} has the fields ${FIELDS[form].join(', ')}.`);
        else if (key === 'type' || key === 'decimal') continue;
        else if (typeof value !== 'string') report.add([...at, key], 'INVALID_TYPE', 'This has to be a text.');
        else {
            const fault = faultOf(key, value);
            if (fault !== undefined) report.add([...at, key], 'INVALID_VALUE', fault);
        }
    }
    if (form === 'json' && !Object.hasOwn(entry, 'selector')) report.add([...at, 'selector'], 'REQUIRED', 'The field selector is missing.');
}

function faultOf(key: string, value: string): string | undefined {
    if (key === 'selector' || key === 'table') return selectorFault(value);
    if (key === 'json' || key === 'path') return expressionFault(value);
    if (value.trim() === '' || value.length > MAX_NAME) return `This has 1 to ${MAX_NAME} characters.`;
    if (key === 'assign' && !VARIABLE.test(value)) return 'This is the name of a variable, such as window.__STATE__.';
    return undefined;
}
