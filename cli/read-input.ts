import { readFile } from 'node:fs/promises';
import { fileFault } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** The text of a file, or of stdin for `-`, without a byte order mark. @throws CommandFault if it is unreadable */
export async function readInput(file: string, { readAll }: Pick<Terminal, 'readAll'>): Promise<string> {
    try {
        return (file === '-' ? await readAll() : await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
    } catch (error) {
        throw file === '-' ? error : fileFault(error, file);
    }
}
