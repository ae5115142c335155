import { readFile } from 'node:fs/promises';
import { CommandFault, fileFault } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** Skips a byte order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a file, or of stdin for `-`, without a byte order mark. @throws CommandFault if it is unreadable or not UTF-8 */
export async function readInput(file: string, { readAll }: Pick<Terminal, 'readAll'>): Promise<string> {
    const bytes = await (file === '-' ? readAll() : readFile(file)).catch((error: unknown) => {
        throw file === '-' ? error : fileFault(error, file);
    });
    try {
        return UTF8.decode(bytes);
    } catch {
        throw new CommandFault('NOT_UTF8', `${file} is not UTF-8. Save it as UTF-8; spreadsheets call it "CSV UTF-8".`);
    }
}
