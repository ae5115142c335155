import { parse, YAMLParseError } from 'yaml';
import { findSyntaxFault } from '../package/syntax.ts';
import { CannotImport } from './imported.ts';

/** Maximum number of bytes of a document. JSON is parsed natively; YAML needs fifty times its size in memory. */
export const MAX_JSON_BYTES = 64 * 1024 * 1024;
const MAX_YAML_BYTES = 16 * 1024 * 1024;
/** Far more levels and values than any known document has. The limits make recursion safe in all later steps. */
const MAX_LEVELS = 200;
const MAX_VALUES = 6_000_000;

/**
 * Parses JSON or YAML.
 * @param name the document's name in messages
 * @throws CannotImport if it is neither, too large, or nested too deeply
 */
export function parseDocument(text: string, name: string): unknown {
    const value = parseText(text.replace(/^\ufeff/, ''), name);
    checkSize(value, name);
    return value;
}

function parseText(text: string, name: string): unknown {
    if (text.includes('\0')) throw new CannotImport(`${name} is a binary file, neither JSON nor YAML.`);
    try {
        if (/^\s*[{[]/.test(text)) return JSON.parse(text);
    } catch {
        // YAML in flow style begins like JSON.
    }
    if (text.length > MAX_YAML_BYTES)
        throw new CannotImport(`${name} is not JSON, and as YAML it is larger than ${MAX_YAML_BYTES / 1024 / 1024} MiB.`);
    try {
        // Aliases can multiply the size of a document, so their expansion is limited.
        return parse(text, { maxAliasCount: 100, logLevel: 'error' });
    } catch (error) {
        throw new CannotImport(`${name} is neither JSON nor YAML${faultOf(text, error)}.`);
    }
}

/** The position of the first syntax error, of JSON or of YAML, whichever the text looks like. */
function faultOf(text: string, error: unknown): string {
    const fault = /^\s*[{[]/.test(text) ? findSyntaxFault(text) : undefined;
    if (fault !== undefined) return `: line ${fault.line}, column ${fault.column}: ${fault.what}`;
    const line = error instanceof YAMLParseError ? error.message.split('\n', 1)[0]?.replace(/[.:]+$/, '') : undefined;
    return line === undefined ? '' : `: ${line}`;
}

/**
 * Checks the numbers of values and levels. A value counts each time that an alias repeats it. A document that contains itself has too many
 * levels.
 */
function checkSize(document: unknown, name: string): void {
    let level: unknown[] = [document];
    let values = 1;
    for (let depth = 0; level.length > 0; depth++) {
        if (depth > MAX_LEVELS) throw new CannotImport(`${name} is nested more than ${MAX_LEVELS} levels deep.`);
        const next: unknown[] = [];
        for (const value of level) {
            if (typeof value !== 'object' || value === null) continue;
            const inner = Object.values(value);
            values += inner.length;
            if (values > MAX_VALUES) throw new CannotImport(`${name} has more than ${MAX_VALUES.toLocaleString('en')} values.`);
            for (const one of inner) if (typeof one === 'object' && one !== null) next.push(one);
        }
        level = next;
    }
}
