import { readFile, stat } from 'node:fs/promises';
import { parse } from 'yaml';
import { CannotImport } from './imported.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Reads a JSON or YAML file, whichever it is. @throws CannotImport where it is neither, or larger than 64 MiB */
export async function readDocument(path: string): Promise<unknown> {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw new CannotImport(`${path} is larger than 64 MiB.`);
    return parseDocument((await readFile(path, 'utf8')).replace(/^\ufeff/, ''), path);
}

/** A text of either kind. `name` stands in the message. */
function parseDocument(text: string, name: string): unknown {
    try {
        if (/^\s*[{[]/.test(text)) return JSON.parse(text);
    } catch {
        // YAML in flow style begins like JSON.
    }
    try {
        // Aliases can multiply; a hundred times what is written is no honest document.
        return parse(text, { maxAliasCount: 100, logLevel: 'silent' });
    } catch {
        throw new CannotImport(`${name} is neither JSON nor YAML.`);
    }
}
