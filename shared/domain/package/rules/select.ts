import { isObject } from '../../json/schema/structure.ts';
import { SELECTED_TYPES } from '../../types.ts';
import { MAX_OUTPUTS, MAX_SELECT_NESTING } from './bounds.ts';
import { expressionFault } from './expressions.ts';
import type { Path, Report } from './report.ts';
import { selectorFault } from './selectors.ts';

/** Checks a JMESPath expression, or a map from output names to expressions. */
export function checkJsonSelect(select: unknown, at: Path, report: Report): void {
    if (typeof select === 'string') {
        report.refuse(at, expressionFault(select));
    } else if (isObject(select)) {
        checkSize(select, at, report);
        for (const [name, expression] of Object.entries(select).slice(0, MAX_OUTPUTS)) {
            if (typeof expression === 'string') report.refuse([...at, name], expressionFault(expression));
            else report.add([...at, name], 'INVALID_TYPE', 'An output of select for JSON must be a JMESPath expression.');
        }
    } else {
        report.add(
            at,
            'INVALID_TYPE',
            'select for JSON must be a JMESPath expression, or an object from output names to such expressions.',
        );
    }
}

/** Maps as in cheerio's `extract`: selectors, `{selector, value, type, decimal}`, lists of one of these, and maps in `value`. */
export function checkHtmlSelect(select: unknown, at: Path, report: Report): void {
    checkMap(select, at, report, 1);
}

function checkMap(map: unknown, at: Path, report: Report, level: number): void {
    if (!isObject(map)) {
        report.add(at, 'INVALID_TYPE', 'select for HTML must be an object from output names to CSS selectors.');
        return;
    }
    if (level > MAX_SELECT_NESTING) {
        report.add(at, 'TOO_COMPLEX', `select for HTML may nest at most ${MAX_SELECT_NESTING} levels.`);
        return;
    }
    checkSize(map, at, report);
    for (const [name, entry] of Object.entries(map).slice(0, MAX_OUTPUTS)) checkEntry(entry, [...at, name], report, level);
}

/** Checks one entry of such a map, which may not contain maps. */
export function checkHtmlEntry(entry: unknown, at: Path, report: Report): void {
    checkDescriptor(entry, at, report, MAX_SELECT_NESTING);
}

function checkEntry(entry: unknown, at: Path, report: Report, level: number): void {
    if (!Array.isArray(entry)) checkDescriptor(entry, at, report, level);
    else if (entry.length === 1) checkDescriptor(entry[0], [...at, 0], report, level);
    else report.refuse(at, 'A list in select must have exactly one selector: it selects all matches.');
}

function checkDescriptor(entry: unknown, at: Path, report: Report, level: number): void {
    if (typeof entry === 'string') {
        report.refuse(at, selectorFault(entry));
        return;
    }
    if (!isObject(entry)) {
        report.add(
            at,
            'INVALID_TYPE',
            'An output of select for HTML must be a CSS selector or an object with selector, value, type and decimal.',
        );
        return;
    }
    if (isDataEntry(entry)) {
        checkDataEntry(entry, at, report);
        checkConversion(entry, at, report);
        return;
    }
    for (const key of Object.keys(entry)) {
        if (FIELDS.has(key)) continue;
        if (key === 'of') report.add([...at, 'json'], 'REQUIRED', 'of picks a block of JSON, so json is needed: "@" is the whole block.');
        else report.add([...at, key], 'UNKNOWN_FIELD', OTHER_FIELD);
    }
    const { selector, value } = entry;
    if (selector === undefined) report.add([...at, 'selector'], 'REQUIRED', 'The field selector is missing.');
    else if (typeof selector === 'string') report.refuse([...at, 'selector'], selectorFault(selector));
    else report.add([...at, 'selector'], 'INVALID_TYPE', 'selector must be a string.');
    if (typeof value === 'string') checkProperty(value, [...at, 'value'], report);
    else if (value !== undefined) checkMap(value, [...at, 'value'], report, level + 1);
    checkConversion(entry, at, report);
}

const FIELDS: ReadonlySet<string> = new Set(['selector', 'value', 'type', 'decimal']);

const OTHER_FIELD = `An output of select has the fields ${[...FIELDS].join(', ')}; one that reads data inside a page has json, assign, microdata or table. Outputs inside an element go into its value: {selector, value: {…}}.`;

/** Checks `type` and `decimal`: the type to which a value is converted, and the decimal separator of the page. */
function checkConversion({ value, type, decimal }: Record<string, unknown>, at: Path, report: Report): void {
    const isType = SELECTED_TYPES.some((known) => known === type);
    if (type !== undefined && !isType) report.refuse([...at, 'type'], `type must be one of ${SELECTED_TYPES.join(', ')}.`);
    else if (isType && isObject(value)) report.refuse([...at, 'type'], 'A map of values has no type: give one to the entries inside.');
    if (decimal === undefined) return;
    if (decimal !== '.' && decimal !== ',') report.refuse([...at, 'decimal'], 'decimal must be "." or ",".');
    else if (type !== 'number' && type !== 'integer')
        report.refuse([...at, 'decimal'], 'decimal is for numbers: use it with type number or integer.');
}

/** Properties that lead from an element to the rest of the page, or to code. They are not values. */
const NO_VALUES: ReadonlySet<string> = new Set(
    (
        'constructor prototype __proto__ hasOwnProperty toString valueOf isPrototypeOf cloneNode parent parentNode children childNodes ' +
        'next prev nextSibling previousSibling firstChild lastChild attribs attributes style root sourceCodeLocation'
    ).split(' '),
);

function checkProperty(name: string, at: Path, report: Report): void {
    if (!/^[A-Za-z_][A-Za-z0-9_:.-]{0,63}$/.test(name) || NO_VALUES.has(name)) {
        report.refuse(at, 'value must be an attribute or one of textContent, innerText, innerHTML, outerHTML and tagName.');
    }
}

function checkSize(map: object, at: Path, report: Report): void {
    const size = Object.keys(map).length;
    if (size === 0) report.refuse(at, 'select must have at least one output; leave it out to get everything.');
    if (size > MAX_OUTPUTS) report.add(at, 'TOO_COMPLEX', `select may have at most ${MAX_OUTPUTS} outputs.`);
}

const FORMS = ['table', 'microdata', 'assign', 'json'] as const;

/** The fields of each form of an entry that reads data in a page, in addition to `type` and `decimal`. */
const FORM_FIELDS: Readonly<Record<(typeof FORMS)[number], readonly string[]>> = {
    table: ['table'],
    microdata: ['microdata', 'path', 'type', 'decimal'],
    assign: ['assign', 'selector', 'json', 'of', 'type', 'decimal'],
    json: ['selector', 'value', 'json', 'of', 'type', 'decimal'],
};

const VARIABLE = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;
const MAX_NAME = 200;

/** Whether an entry of `select` for HTML reads data in the page: JSON, microdata or a table. */
function isDataEntry(entry: object): boolean {
    return FORMS.some((form) => Object.hasOwn(entry, form));
}

/** Checks an entry that reads data. `type` and `decimal` are checked like those of every entry. */
function checkDataEntry(entry: Record<string, unknown>, at: Path, report: Report): void {
    const form = FORMS.find((one) => Object.hasOwn(entry, one)) ?? 'json';
    for (const [key, value] of Object.entries(entry)) {
        if (!FORM_FIELDS[form].includes(key))
            report.add([...at, key], 'UNKNOWN_FIELD', `An entry with ${form} has the fields ${FORM_FIELDS[form].join(', ')}.`);
        else if (key === 'type' || key === 'decimal') continue;
        else if (typeof value !== 'string') report.add([...at, key], 'INVALID_TYPE', 'This must be a string.');
        else report.refuse([...at, key], faultOf(key, value));
    }
    if (form === 'json' && !Object.hasOwn(entry, 'selector')) report.add([...at, 'selector'], 'REQUIRED', 'The field selector is missing.');
}

function faultOf(key: string, value: string): string | undefined {
    if (key === 'selector' || key === 'table') return selectorFault(value);
    if (key === 'json' || key === 'path') return expressionFault(value);
    if (value.trim() === '' || value.length > MAX_NAME) return `This must have 1 to ${MAX_NAME} characters.`;
    if (key === 'assign' && !VARIABLE.test(value)) return 'This must be the name of a variable, such as window.__STATE__.';
    return undefined;
}
