import { readEmail } from '../../shared/domain/accounts/email.ts';
import { textProblem } from '../../shared/domain/text/text-rule.ts';
import { type ErrorBody, type ItemDetail, Refusal } from '../../shared/refusals.ts';
import { type FormRead, readForm } from '../bodies/form.ts';

/** The fields of a form by name, as they were sent. */
export type Fields = ReadonlyMap<string, string>;

/** Messages by field name. `''` stands for the whole form. */
export type Problems = Readonly<Record<string, string>>;

export type Reader<T> = (text: string) => { ok: true; value: T } | { ok: false; problem: string };

export type FormResult<T> = { ok: true; values: T } | { ok: false; problems: Problems };

export const FORM_BYTES = 64 * 1024;

/** Parses an urlencoded body. @throws Refusal VALIDATION_ERROR for too many fields, and for two of one name, which our forms never send */
export function parseFields(body: Uint8Array): Fields {
    return fieldsOf(readForm(body));
}

export function fieldsOf(read: FormRead): Fields {
    if (!read.ok) throw new Refusal('VALIDATION_ERROR', read.problem);
    return new Map(read.fields);
}

/** Reads all fields of a form and reports all problems together. A missing field counts as empty. */
export function readFields<T extends object>(fields: Fields, readers: { [name in keyof T]: Reader<T[name]> }): FormResult<T> {
    const values: Partial<T> = {};
    const problems: Record<string, string> = {};
    for (const name of Object.keys(readers) as (keyof T & string)[]) {
        const read = readers[name](fields.get(name) ?? '');
        if (read.ok) values[name] = read.value;
        else problems[name] = read.problem;
    }
    return Object.keys(problems).length === 0 ? { ok: true, values: values as T } : { ok: false, problems };
}

/**
 * A problem that the API names by its field, in words beside the field: `This must have 3 letters.` for `task must have 3 letters.`, and
 * `Each must …` for `events[0] must …`.
 */
export function besideField(text: string): string {
    return text.replace(/^[a-z_]+(\[\d+\])? (?=(?:takes|looks|is|must) )/, (_, item) => (item === undefined ? 'This ' : 'Each '));
}

/**
 * The details of an API error as problems of a form; without details, its message belongs to the whole form.
 * @param place names the field of a detail, or '', and says what stands beside it
 */
export function problemsAt(
    { message, details = [] }: ErrorBody,
    place: (detail: ItemDetail) => readonly [field: string, text: string],
): Problems {
    const problems: Record<string, string> = {};
    for (const detail of details) {
        const [field, text] = place(detail);
        problems[field] ??= text;
    }
    return Object.keys(problems).length === 0 ? { '': message } : problems;
}

/** The values to show again in a form with problems, without passwords and the fields in `secret`. */
export function keepTyped(fields: Fields, secret: readonly string[] = []): Readonly<Record<string, string>> {
    const kept = [...fields].filter(([name]) => !secret.includes(name) && !/password/i.test(name));
    return Object.fromEntries(kept.map(([name, value]) => [name, showable(value)]));
}

/** Reads one line of text. With `minLength` 0 it may be empty. */
export function line({ minLength = 1, maxLength }: { minLength?: number; maxLength: number }): Reader<string> {
    return (text) => {
        const value = text.trim();
        const problem = textProblem(value);
        if (problem !== undefined) return { ok: false, problem: `This ${problem}.` };
        if (value === '' && minLength > 0) return { ok: false, problem: 'Fill this in.' };
        if (value.length < minLength) return { ok: false, problem: `Use at least ${minLength} characters.` };
        if (value.length > maxLength) return { ok: false, problem: `Use at most ${maxLength} characters.` };
        return { ok: true, value };
    };
}

/** Reads one of the allowed values, from a select or radio buttons. */
export function oneOf<const T extends string>(allowed: readonly T[]): Reader<T> {
    return (text) => {
        const value = allowed.find((choice) => choice === text);
        return value === undefined ? { ok: false, problem: 'Choose one of these.' } : { ok: true, value };
    };
}

/** Reads a password as it was typed. The rules for new passwords are checked elsewhere. */
export const secret: Reader<string> = (text) => {
    if (text === '') return { ok: false, problem: 'Fill this in.' };
    const problem = textProblem(text);
    if (problem !== undefined) return { ok: false, problem: `This ${problem}.` };
    return text.length > 1000 ? { ok: false, problem: 'This is too long.' } : { ok: true, value: text };
};

export const tick: Reader<boolean> = (text) => ({ ok: true, value: text !== '' });

function showable(value: string): string {
    return value
        .toWellFormed()
        .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
        .slice(0, 5000);
}

/** An email address, as it was typed and in the normalised form that is compared. */
export type Email = Extract<ReturnType<typeof readEmail>, { ok: true }>;

export const address: Reader<Email> = (text) => {
    if (text.trim() === '') return { ok: false, problem: 'Fill this in.' };
    const email = readEmail(text);
    return email.ok ? { ok: true, value: email } : { ok: false, problem: email.message };
};

/** The problem of a form that was sent too often. @param wait seconds */
export function tooManyAttempts(wait: number): Problems {
    return { '': `Too many attempts; try again in ${waitText(wait)}.` };
}

/** Formats a waiting time for people, for example `2 minutes`. */
export function waitText(seconds: number): string {
    const minutes = Math.ceil(seconds / 60);
    if (minutes <= 1) return 'a minute';
    return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
