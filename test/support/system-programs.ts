import { accessSync, appendFileSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** A dependency that only the operating system provides. */
interface SystemProgram {
    name: string;
    /** Programs on the PATH, or files. */
    probes: readonly string[];
    /** The Debian packages that install it. */
    packages: string;
}

const LINES = readFileSync(new URL('./system-programs.txt', import.meta.url), 'utf8').split('\n');

/** Every dependency on the operating system that some test needs, from `system-programs.txt`. */
const SYSTEM_PROGRAMS: readonly SystemProgram[] = LINES.filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const [name = '', probes = '', packages = ''] = line.split('|').map((cell) => cell.trim());
    return { name, probes: probes.split(','), packages };
});

/** Whether this dependency is installed. */
export function has(name: string): boolean {
    return programNamed(name).probes.every((probe) => (isAbsolute(probe) ? existsSync(probe) : findProgram(probe) !== undefined));
}

/**
 * Skips the tests of a suite if a dependency on the operating system is missing; in CI they fail instead. `npm test` lists at its end what
 * was skipped, and the command that installs it. Call this in `before`, with mocha's `this`.
 */
export function needs(test: Mocha.Context, ...names: string[]): void {
    const missing = names.filter((name) => !has(name));
    if (missing.length > 0) leaveOut(test, missing);
}

/** Skips the tests, or fails in CI, if the missing dependencies are already known. */
export function leaveOut(test: Mocha.Context, missing: readonly string[]): never {
    if (isCi()) throw new Error(`missing here: ${missing.join(', ')} (Debian: apt-get install ${packagesOf(missing)})`);
    for (const name of missing) noteMissing(name);
    // biome-ignore lint/suspicious/noSkippedTests: the last lines of the run name what was left out
    return test.skip();
}

/** Records for `npm test` that tests were skipped. */
export function noteMissing(name: string): void {
    const file = process.env['TEST_MISSING_FILE'];
    if (file !== undefined) appendFileSync(file, `${name}\n`);
}

/** The Debian packages that install these dependencies, as far as Debian has them. */
export function packagesOf(names: readonly string[]): string {
    return [...new Set(names.flatMap((name) => find(name)?.packages.split(' ') ?? []))].join(' ');
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

/** Whether this is CI, where nothing may be missing. */
export function isCi(): boolean {
    return !['', '0', 'false', undefined].includes(process.env['CI']);
}

function find(name: string): SystemProgram | undefined {
    return SYSTEM_PROGRAMS.find((one) => one.name === name);
}

function programNamed(name: string): SystemProgram {
    const found = find(name);
    if (found === undefined) throw new Error(`system-programs.txt has no ${name}`);
    return found;
}
