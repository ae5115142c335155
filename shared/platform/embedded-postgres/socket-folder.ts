import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveTo, type Home } from './home.ts';

/** A socket's whole path may have 103 bytes on macOS and 107 on Linux: a data folder can lie too deep, and so can TMPDIR. */
const LONGEST_PARENT = 70;

/**
 * The folder of a home's socket, which only the server's user and root may enter: that stands for the password. Its name cannot be
 * guessed and is noted in the home, so that a start after a kill -9 uses the same one again instead of leaving one more behind.
 */
export function openSocketFolder(home: Home): string {
    const note = noteIn(home);
    const noted = existsSync(note) ? readFileSync(note, 'utf8') : undefined;
    if (noted !== undefined && isOurs(noted, home)) return noted;
    const temporary = tmpdir();
    const parent = home.account === undefined && temporary.length <= LONGEST_PARENT ? temporary : '/tmp';
    const folder = mkdtempSync(join(parent, 'routebook-'));
    giveTo(folder, home.account);
    writeFileSync(note, folder);
    return folder;
}

/** Undoes it, after the server has stopped. */
export function removeSocketFolder(home: Home, folder: string): void {
    rmSync(folder, { recursive: true, force: true });
    rmSync(noteIn(home), { force: true });
}

/** The temporary folder may have been emptied, but no other user can have replaced it. */
function isOurs(folder: string, home: Home): boolean {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    const owner = home.account?.uid ?? process.getuid?.();
    if (found === undefined) return false;
    return found.isDirectory() && found.uid === owner && (found.mode & 0o777) === 0o700;
}

function noteIn(home: Home): string {
    return join(home.folder, 'socket-folder');
}
