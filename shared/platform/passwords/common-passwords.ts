import { readFileSync } from 'node:fs';

let known: ReadonlySet<string> | undefined;

/** Whether a password, in small letters, is one of the 10,000 commonest. The list is read when the first one is checked. */
export function isCommonPassword(password: string): boolean {
    known ??= new Set(
        readFileSync(new URL('../../data/common-passwords.txt', import.meta.url), 'utf8')
            .split('\n')
            .filter((line) => line !== '' && !line.startsWith('#')),
    );
    return known.has(password);
}
