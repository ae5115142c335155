import { accessSync, appendFileSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** A part that only an operating system brings. */
export interface SystemProgram {
    name: string;
    /** Programs on the PATH, or files. */
    probes: readonly string[];
    /** What installs it on Debian. */
    packages: string;
}

const LINES = readFileSync(new URL('./system-programs.txt', import.meta.url), 'utf8').split('\n');

/** Every part that some test needs of the operating system, from `system-programs.txt`. */
export const SYSTEM_PROGRAMS: readonly SystemProgram[] = LINES.filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const [name = '', probes = '', packages = ''] = line.split('|').map((cell) => cell.trim());
    return { name, probes: probes.split(','), packages };
});

/** Whether this machine has it. */
export function has(name: string): boolean {
    return programNamed(name).probes.every((probe) => (isAbsolute(probe) ? existsSync(probe) : findProgram(probe) !== undefined));
}

/**
 * Leaves out the tests of a suite where a part of the operating system is missing; in CI they fail. `npm test` names at its end what
 * was left out, and the command that installs it. Call it in `before`, with mocha's `this`.
 */
export function needs(test: Mocha.Context, ...names: string[]): void {
    const missing = names.filter((name) => !has(name));
    if (missing.length > 0) leaveOut(test, missing);
}

/** The same where it is known that they are missing. */
export function leaveOut(test: Mocha.Context, missing: readonly string[]): never {
    if (isCi()) throw new Error(`missing here: ${missing.join(', ')} (Debian: apt-get install ${packagesOf(missing)})`);
    for (const name of missing) noteMissing(name);
    // biome-ignore lint/suspicious/noSkippedTests: the last lines of the run name what was left out
    return test.skip();
}

/** Tells `npm test` that something was left out. */
export function noteMissing(name: string): void {
    const file = process.env['TEST_MISSING_FILE'];
    if (file !== undefined) appendFileSync(file, `${name}\n`);
}

/** Debian's packages that bring these parts. */
export function packagesOf(names: readonly string[]): string {
    return [...new Set(names.flatMap((name) => programNamed(name).packages.split(' ')))].join(' ');
}

/** The path of the first program of this name on the PATH. */
export function findProgram(name: string): string | undefined {
    const places = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, name));
    return places.find((path) => {
        try {
            accessSync(path, constants.X_OK);
            return true;
        } catch {
            return false;
        }
    });
}

/** Whether everything has to be there. */
export function isCi(): boolean {
    return !['', '0', 'false', undefined].includes(process.env['CI']);
}

function programNamed(name: string): SystemProgram {
    const found = SYSTEM_PROGRAMS.find((one) => one.name === name);
    if (found === undefined) throw new Error(`system-programs.txt has no ${name}`);
    return found;
}
