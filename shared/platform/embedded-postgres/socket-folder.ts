import { hash } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveTo, type Home } from './home.ts';

/** The path of a socket may have 103 bytes on macOS and 107 on Linux. A data folder can be too deep for that, and so can TMPDIR. */
const MAX_PARENT = 70;

/**
 * Creates the folder for the socket of a home. Only the server's user and root may enter it, so no password is necessary. A start after a
 * kill -9 uses the same folder again. If another user has a folder of this name, a random name is used.
 */
export function openSocketFolder({ folder: home, account }: Home): string {
    const temporary = tmpdir();
    const parent = account === undefined && temporary.length <= MAX_PARENT ? temporary : '/tmp';
    const folder = join(parent, `routebook-${hash('sha256', home).slice(0, 16)}`);
    const found = lstatSync(folder, { throwIfNoEntry: false });
    const owner = account?.uid ?? process.getuid?.();
    if (found?.isDirectory() && found.uid === owner && (found.mode & 0o777) === 0o700) return folder;
    const made = found === undefined ? folder : mkdtempSync(`${folder}-`);
    mkdirSync(made, { recursive: true, mode: 0o700 });
    giveTo(made, account);
    return made;
}
