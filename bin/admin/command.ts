import { Argument, InvalidArgumentError, Option } from 'commander';
import { textProblem } from '../../shared/domain/text/text-rule.ts';
import type { Json } from '../../shared/domain/types.ts';
import type { Operator } from './operator.ts';

export interface Done {
    result: Json;
    lines: readonly Line[];
    /** For stderr. */
    note?: string;
    /** Exit with code 1 although there is a result. */
    isFailure?: boolean;
}

/** A text, or a table, which is laid out for the terminal. */
type Line = string | Table;

export interface Table {
    heads: readonly string[];
    rows: readonly (readonly (string | number | null)[])[];
}

export interface AdminCommand {
    /** `site block`. */
    name: string;
    about?: string;
    takes: readonly (Argument | Option)[];
    /** Why these options cannot be combined, in one line; undefined if they can. */
    problemOf?(options: never): string | undefined;
    /** Gets the arguments in order, then the options. */
    work(operator: Operator, ...given: never[]): Promise<Done>;
}

/** Parses a value. For an option that may be repeated, `before` is its earlier result. */
type Reader = (text: string, before: never) => unknown;

/** An argument. `[name]` means that it is optional. */
export function argument(name: string, about?: string, read?: Reader): Argument {
    const made = new Argument(name, about);
    return read === undefined ? made : made.argParser(read as (text: string) => unknown);
}

export function option(flags: string, about?: string, read?: Reader): Option {
    const made = new Option(flags, about);
    return read === undefined ? made : made.argParser(read as (text: string) => unknown);
}

/** Returns a parser for a number above 0, such as 0.5, and at most `max`. */
export function positiveNumber(max: number): (text: string) => number {
    return (text) => {
        const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
        if (value > 0 && value <= max) return value;
        throw new InvalidArgumentError(`It is a number above 0, such as 0.5, and at most ${max}.`);
    };
}

/** Returns a parser that accepts `default`, which resets a setting, and otherwise uses `read`. */
export function orDefault(read: (text: string) => number): (text: string) => number | 'default' {
    return (text) => (text === 'default' ? text : read(text));
}

/** Returns a parser for ids with one of these prefixes. It does not check that the id exists. */
export function idOf(...prefixes: ('usr' | 'wsp' | 'key' | 'srq' | 'job')[]): (text: string) => string {
    return (text) => {
        if (new RegExp(`^(${prefixes.join('|')})_[0-9A-Za-z_]{1,64}$`).test(text)) return text;
        throw new InvalidArgumentError(`It is an id that begins with ${prefixes.map((prefix) => `${prefix}_`).join(' or ')}.`);
    };
}

/** Returns a parser for one line of text. @param max number of characters */
export function line(max: number): (text: string) => string {
    return (text) => {
        const trimmed = text.trim();
        const problem = textProblem(trimmed);
        if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`);
        if (trimmed.length >= 1 && trimmed.length <= max) return trimmed;
        throw new InvalidArgumentError(`It has 1 to ${max} characters.`);
    };
}

type Cell = string | number | boolean | null;

/** A table, as the lines of a result. @param heads the most important column first: the last ones do not fit on every terminal */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): Table[] {
    return [{ heads, rows: rows.map((row) => row.map((cell) => (typeof cell === 'boolean' ? textOf(cell) : cell))) }];
}

/** Formats one line for each name and value, with the values aligned. Names are those of the JSON, with spaces. */
export function fields(values: Readonly<Record<string, Cell>>): string[] {
    const width = Math.max(...Object.keys(values).map((name) => name.length));
    return Object.entries(values).map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(width)}  ${textOf(value)}`);
}

function textOf(value: Cell): string {
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    return String(value ?? '-');
}

/** A result that is shown as its names and values. */
export function done(result: Readonly<Record<string, Cell>>): Done {
    return { result: { ...result }, lines: fields(result) };
}

/** Parses host names separated by commas. `none` is an empty list. */
export function hostNames(text: string): string[] {
    if (text === 'none') return [];
    const names = text.split(',').map((name) => name.trim().toLowerCase());
    if (names.every((name) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name))) return names;
    throw new InvalidArgumentError('These are not host names separated by commas.');
}
