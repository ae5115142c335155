import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How long to wait for the lock of a process that was just killed. */
const PATIENCE_MS = 500;

/**
 * Takes the exclusive lock of a folder. It is a lock of the operating system, held through SQLite, so it ends with this process in all
 * cases.
 * @param name the name of the folder in messages
 * @returns a function that releases the lock
 * @throws an Error of one line, with the name and the pid, while another process holds the lock
 */
export async function lockFolder(folder: string, name: string): Promise<() => void> {
    // Node 22 and 24 print a warning about an experimental feature when they load this module.
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(folder, 'lock'), { timeout: PATIENCE_MS });
    const holder = join(folder, 'lock.pid');
    try {
        database.exec('begin exclusive');
    } catch (cause) {
        database.close();
        const pid = readFileSync(holder, 'utf8');
        const message = `${name} is in use by another Routebook (pid ${pid}): stop that one first, or set DATA_DIR to another folder`;
        throw new Error(message, { cause });
    }
    writeFileSync(holder, String(process.pid));
    return () => database.close();
}
