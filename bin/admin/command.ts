import { Argument, InvalidArgumentError, Option } from 'commander';
import { textProblem } from '../../shared/domain/text/text-rule.ts';
import type { Json } from '../../shared/domain/types.ts';
import type { Operator } from './operator.ts';

/** The result of a command, as JSON and as text. */
export interface Done {
    result: Json;
    lines: string[];
    /** For stderr. */
    note?: string;
    /** Exit 1 though there is a result. */
    isFailure?: boolean;
}

/** An entry of the table of commands (commands.ts). */
export interface AdminCommand {
    /** `site block`. */
    name: string;
    about?: string;
    takes: readonly (Argument | Option)[];
    /** Why the options are no use together, as one line; undefined if nothing is wrong. */
    problemOf?(options: never): string | undefined;
    /** Gets the arguments in their order, and then the options. */
    work(operator: Operator, ...given: never[]): Promise<Done>;
}

/** Reads what was given; of an option that may be repeated also what it gave before. */
type Reader = (text: string, before: never) => unknown;

/** An argument; `[name]` may be left out. */
export function argument(name: string, about?: string, read?: Reader): Argument {
    const made = new Argument(name, about);
    return read === undefined ? made : made.argParser(read as (text: string) => unknown);
}

/** An option. */
export function option(flags: string, about?: string, read?: Reader): Option {
    const made = new Option(flags, about);
    return read === undefined ? made : made.argParser(read as (text: string) => unknown);
}

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
    return (text) => {
        const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
        if (value >= least && value <= most) return value;
        throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
    };
}

/** A number above 0, such as 0.5, and at most `most`. */
export function positiveNumber(most: number): (text: string) => number {
    return (text) => {
        const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
        if (value > 0 && value <= most) return value;
        throw new InvalidArgumentError(`It is a number above 0, such as 0.5, and at most ${most}.`);
    };
}

/** `default` takes a setting back; everything else is read by `read`. */
export function orDefault(read: (text: string) => number): (text: string) => number | 'default' {
    return (text) => (text === 'default' ? text : read(text));
}

/** An id of one kind; whether there is such a thing is looked up later. */
export function idOf(...prefixes: ('usr' | 'wsp' | 'key' | 'srq')[]): (text: string) => string {
    return (text) => {
        if (new RegExp(`^(${prefixes.join('|')})_[0-9A-Za-z_]{1,64}$`).test(text)) return text;
        throw new InvalidArgumentError(`It is an id that begins with ${prefixes.map((prefix) => `${prefix}_`).join(' or ')}.`);
    };
}

/** One line of text for people. */
export function line(most: number): (text: string) => string {
    return (text) => {
        const trimmed = text.trim();
        const problem = textProblem(trimmed);
        if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`);
        if (trimmed.length >= 1 && trimmed.length <= most) return trimmed;
        throw new InvalidArgumentError(`It has 1 to ${most} characters.`);
    };
}

type Cell = string | number | boolean | null;

/** Columns of equal width; null is a dash. */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
    const cells = [heads, ...rows.map((row) => row.map((cell) => String(cell ?? '-')))];
    const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
    return cells.map((row) => {
        const padded = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
        return padded.join('  ').trimEnd();
    });
}

/** Names and values below each other. */
export function fields(values: Readonly<Record<string, Cell>>): string[] {
    const width = Math.max(...Object.keys(values).map((name) => name.length));
    return Object.entries(values).map(([name, value]) => `${name.padEnd(width)}  ${value ?? '-'}`);
}

/** A result that is shown as it is. */
export function done(result: Readonly<Record<string, Cell>>): Done {
    return { result: { ...result }, lines: fields(result) };
}

/** Names of hosts with commas between; `none` is an empty list. */
export function hostNames(text: string): string[] {
    if (text === 'none') return [];
    const names = text.split(',').map((name) => name.trim().toLowerCase());
    if (names.every((name) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name))) return names;
    throw new InvalidArgumentError('These are no names of hosts with commas between.');
}
