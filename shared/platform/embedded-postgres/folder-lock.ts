import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A process that was killed right now holds its lock for a moment. */
const PATIENCE_MS = 500;

/**
 * Takes the one lock of a folder. It is a lock of the operating system, held through SQLite, so it ends with this process, however
 * that ends.
 * @param name the folder's name in messages
 * @returns what releases it
 * @throws Error of one line, with the name and the pid, while another process holds it
 */
export async function lockFolder(folder: string, name: string): Promise<() => void> {
    // Node 22 and 24 warn of an experiment when they load it.
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
