import type { Json } from '../../types.ts';

export function literal(value: Json): string {
    if (value === null) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    // All escapes of JSON are valid in Python.
    return JSON.stringify(value);
}

/** Lines of a docstring; empty if there is no text. */
export function docstring(text: string, indent: number): string[] {
    const before = ' '.repeat(indent);
    const safe = text
        .trim()
        .replaceAll('\\', '\\\\')
        .replaceAll('"', '\\"')
        .replaceAll(/[\u0000-\u0009\u000b\u000c\u000e-\u001f]/g, ' ');
    if (safe === '') return [];
    const lines = safe.split(/\r\n|[\n\r]/).map((line, place) => (place === 0 || line === '' ? line : `${before}${line}`));
    return [`${before}"""${lines.join('\n')}"""`];
}
