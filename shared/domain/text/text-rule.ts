/**
 * What is wrong with a text that a caller sent, or `undefined` (docs/api.md, "Requests and answers"): it has to be well-formed Unicode without
 * NUL and control characters (C0, DEL, C1). With `multiline` newlines (also as CR LF) and tabs are fine: descriptions, tasks and
 * intents. The message completes a sentence that names the field.
 */
export function textProblem(text: string, { multiline = false }: { multiline?: boolean } = {}): string | undefined {
    if (!text.isWellFormed()) return 'is not well-formed Unicode (a lone surrogate)';
    const stray = (multiline ? STRAY_IN_LINES : STRAY).exec(text);
    if (stray === null) return undefined;
    const code = stray[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `has a control character (U+${code} at position ${stray.index})`;
}

/** CR LF becomes LF, so that one text has one spelling whatever system it was typed on. */
export function normaliseNewlines(text: string): string {
    return text.replaceAll('\r\n', '\n');
}

const STRAY = /[\u0000-\u001f\u007f-\u009f]/;
const STRAY_IN_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/;
