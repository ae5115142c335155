import { readFileSync } from 'node:fs';

let known: ReadonlySet<string> | undefined;

/** Whether a lower-case password is one of the 10,000 most common ones. The list is read on first use. */
export function isCommonPassword(password: string): boolean {
    known ??= new Set(
        readFileSync(new URL('../../data/common-passwords.txt', import.meta.url), 'utf8')
            .split('\n')
            .filter((line) => line !== '' && !line.startsWith('#')),
    );
    return known.has(password);
}
