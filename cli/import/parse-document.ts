import { parse, YAMLParseError } from 'yaml';
import { findSyntaxFault } from '../package/syntax.ts';
import { CannotImport } from './imported.ts';

/** Bytes that a document may have: JSON is parsed natively, YAML takes fifty times its size in memory. */
export const MAX_JSON_BYTES = 64 * 1024 * 1024;
const MAX_YAML_BYTES = 16 * 1024 * 1024;
/** Far more than any known document has. Everything behind this may recurse. */
const MAX_LEVELS = 200;
const MAX_VALUES = 6_000_000;

/**
 * Parses JSON or YAML. `name` stands in the messages.
 * @throws CannotImport where it is neither, too large, or nested too deeply
 */
export function parseDocument(text: string, name: string): unknown {
    const value = parseText(text.replace(/^\ufeff/, ''), name);
    checkSize(value, name);
    return value;
}

function parseText(text: string, name: string): unknown {
    if (text.includes('\0')) throw new CannotImport(`${name} is a binary file, and neither JSON nor YAML.`);
    try {
        if (/^\s*[{[]/.test(text)) return JSON.parse(text);
    } catch {
        // YAML in flow style begins like JSON.
    }
    if (text.length > MAX_YAML_BYTES)
        throw new CannotImport(`${name} is not JSON, and as YAML it is larger than ${MAX_YAML_BYTES / 1024 / 1024} MiB.`);
    try {
        // Aliases can multiply; a hundred times what is written is no honest document.
        return parse(text, { maxAliasCount: 100, logLevel: 'error' });
    } catch (error) {
        throw new CannotImport(`${name} is neither JSON nor YAML${faultOf(text, error)}.`);
    }
}

/** Where a text stops to be JSON or YAML, whichever it looks like. */
function faultOf(text: string, error: unknown): string {
    const fault = /^\s*[{[]/.test(text) ? findSyntaxFault(text) : undefined;
    if (fault !== undefined) return `: line ${fault.line}, column ${fault.column}: ${fault.what}`;
    const line = error instanceof YAMLParseError ? error.message.split('\n', 1)[0]?.replace(/[.:]+$/, '') : undefined;
    return line === undefined ? '' : `: ${line}`;
}

/** Counts the values level by level. What aliases repeat counts each time, and a document that holds itself is too deep. */
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
            if (values > MAX_VALUES) throw new CannotImport(`${name} holds more than ${MAX_VALUES.toLocaleString('en')} values.`);
            for (const one of inner) if (typeof one === 'object' && one !== null) next.push(one);
        }
        level = next;
    }
}
