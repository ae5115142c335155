import { checkPackage, type PackageWarning } from '../../shared/domain/package/rules.ts';
import { isPortAllowed } from '../../shared/domain/site/egress-allow.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { CommandFault } from '../failures.ts';
import type { Settings } from '../settings.ts';
import type { Paint, Terminal } from '../terminal.ts';
import type { Place } from './positions.ts';
import { type PackageFile, readPackageFile } from './read-package-file.ts';

/** A problem with its position in the file. */
type Problem = { path: string; code: string; message: string } & Place;

export type CheckedFile =
    | { ok: true; file: string; document: PackageDocument; warnings: (PackageWarning & Place)[] }
    | { ok: false; file: string; problems: Problem[] };

/** Checks a file by the server's rules. Returns all problems in the order of lines. */
export function checkFile(file: PackageFile, settings: Settings): CheckedFile {
    const { egressAllow } = settings.egress();
    const verdict = checkPackage(file.value, { isPortAllowed: (port) => isPortAllowed(egressAllow, port), rounded: file.rounded });
    const located = <T extends { path: string }>(found: T): T & Place => ({ ...found, ...file.locate(found.path) });
    if (verdict.ok) return { ok: true, file: file.name, document: verdict.document, warnings: verdict.warnings.map(located) };
    const problems = verdict.problems.map(located).sort((a, b) => a.line - b.line || a.column - b.column);
    return { ok: false, file: file.name, problems };
}

/** Reads a valid package. @throws CommandFault SCHEMA_INVALID with every problem and its line */
export async function readValidPackage(
    path: string,
    terminal: Terminal,
    settings: Settings,
): Promise<CheckedFile & { ok: true; locate: PackageFile['locate'] }> {
    const file = await readPackageFile(path, terminal);
    const checked = checkFile(file, settings);
    if (checked.ok) return { ...checked, locate: file.locate };
    throw invalidPackage(checked.file, checked.problems, terminal.paintError);
}

/** SCHEMA_INVALID with every problem and its place. @param file as the contributor named it */
export function invalidPackage(file: string, problems: readonly Problem[], paint: Paint): CommandFault {
    const message = `${file} breaks the rules of the registry in ${counted(problems.length, 'place')}:`;
    return new CommandFault('SCHEMA_INVALID', message, { lines: problemLines(file, problems, paint), fields: { file, details: problems } });
}

/** Formats problems as `file:line:column`, which terminals turn into links, and a message. */
export function problemLines(file: string, problems: readonly Problem[], paint: Paint) {
    return problems.flatMap(({ line, column, path, code, message }) => [
        `  ${paint('cyan', `${file}:${line}:${column}`)}  ${paint('bold', code)}  ${paint('dim', path)}`,
        `      ${message}`,
    ]);
}
