import { getOrMake } from '../get-or-make.ts';

/** `createdAt` for `created_at`. */
export type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

/** The words of a text with blanks between. */
export type Words<Text extends string> = Text extends `${infer Head} ${infer Tail}` ? Head | Words<Tail> : Text;

export function toCamel(name: string): string {
    return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Times as RFC 3339; a field that the row does not have is a type error. */
type Printed<Row, Field> = Field extends keyof Row
    ? Row[Field] extends infer Value
        ? Value extends Date
            ? string
            : Value
        : never
    : symbol;

/** Parsed `names`, cached because lists print thousands of rows. */
const known = new Map<string, (readonly [name: string, field: string])[]>();

/** Fields of a row under the names that the API gives them: `job_id` is `jobId`. @param names with blanks between */
export function presentFields<Row extends object, const Names extends string>(
    row: Row,
    names: Names,
): { [Name in Words<Names>]: Printed<Row, Camel<Name>> } {
    const fields = getOrMake(known, names, () => names.split(' ').map((name) => [name, toCamel(name)] as const));
    const shown: Record<string, unknown> = {};
    for (const [name, field] of fields) {
        const value = (row as Record<string, unknown>)[field];
        shown[name] = value instanceof Date ? value.toISOString() : value;
    }
    return shown as never;
}
