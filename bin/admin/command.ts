import { InvalidArgumentError } from 'commander';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { textProblem } from '../../shared/domain/text/text-rule.ts';
import type { Json } from '../../shared/domain/types.ts';
import { AdminFault, type Operator } from './operator.ts';

/** What a command did: the JSON, and the same for a person's eyes. */
export interface Done {
    result: Json;
    lines: string[];
    /** For stderr. */
    note?: string;
    /** Exit 1 though there is a result. */
    isFailure?: boolean;
}

export type Work = (operator: Operator) => Promise<Done>;
export type Run = (work: Work) => Promise<void>;

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

export type OrDefault = number | 'default';

/** `default` takes a setting back; everything else is read by `read`. */
export function orDefault(read: (text: string) => number): (text: string) => OrDefault {
    return (text) => (text === 'default' ? text : read(text));
}

/** An id of one kind; whether there is such a thing is looked up later. */
export function idOf(prefix: 'usr' | 'wsp' | 'key' | 'srq'): (text: string) => string {
    return (text) => {
        if (new RegExp(`^${prefix}_[0-9A-Za-z_]{1,64}$`).test(text)) return text;
        throw new InvalidArgumentError(`It is an id that begins with ${prefix}_.`);
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

/** Normalizes the name of a site. */
export function readSite(text: string): { site: string; registrable: string } {
    const name = normaliseSite(text);
    if (!name.ok) throw new AdminFault('INVALID_DOMAIN', name.message);
    return name;
}

/** Columns of equal width; null is a dash. */
export function table(heads: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string[] {
    const cells = [heads, ...rows.map((row) => row.map((cell) => String(cell ?? '-')))];
    const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
    return cells.map((row) =>
        row
            .map((cell, column) => cell.padEnd(widths[column] ?? 0))
            .join('  ')
            .trimEnd(),
    );
}

/** Names and values below each other. */
export function fields(values: Readonly<Record<string, string | number | boolean | null>>): string[] {
    const width = Math.max(...Object.keys(values).map((name) => name.length));
    return Object.entries(values).map(([name, value]) => `${name.padEnd(width)}  ${value ?? '-'}`);
}
