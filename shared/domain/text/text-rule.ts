/**
 * Checks a text that a caller sent (docs/api.md, "Requests and answers"). It must be well-formed Unicode without NUL and control characters
 * (C0, DEL, C1). With `multiline`, newlines (also as CR LF) and tabs are allowed: for descriptions, tasks and intents. The message
 * completes a sentence whose subject is the field.
 */
export function textProblem(text: string, { multiline = false }: { multiline?: boolean } = {}): string | undefined {
    if (!text.isWellFormed()) return NOT_WELL_FORMED;
    const stray = (multiline ? STRAY_IN_LINES : STRAY).exec(text);
    if (stray === null) return undefined;
    const code = stray[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `has a control character (U+${code} at position ${stray.index})`;
}

/** A text in a param is data: well-formed Unicode without NUL, which PostgreSQL cannot store and which ends a string in C. */
export function dataProblem(text: string): string | undefined {
    if (!text.isWellFormed()) return NOT_WELL_FORMED;
    const place = text.indexOf('\u0000');
    return place === -1 ? undefined : `has a NUL character (U+0000 at position ${place})`;
}

/** Finds characters that reorder the words around a name. U+061C, U+200E and U+200F, marks of Arabic and Hebrew, do not. */
export function reorderingProblem(name: string): string | undefined {
    const char = name.match(REORDERING)?.[0];
    return char && `Remove the invisible character U+${char.charCodeAt(0).toString(16).toUpperCase()}.`;
}

export function withoutReordering(text: string): string {
    return text.replaceAll(REORDERING, '');
}

/** Replaces CR LF by LF, so that a text is the same on every operating system. */
export function normaliseNewlines(text: string): string {
    return text.replaceAll('\r\n', '\n');
}

const NOT_WELL_FORMED = 'is not well-formed Unicode (a lone surrogate)';
const STRAY = /[\u0000-\u001f\u007f-\u009f]/;
const STRAY_IN_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/;
/** Embeddings, overrides and isolates. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;
