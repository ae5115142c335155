import { counted } from '../../shared/domain/text/counted.ts';
import { CommandFault } from '../failures.ts';
import { type CheckedFile, checkFile, problemLines } from '../package/check-package.ts';
import { readPackageFile } from '../package/read-package-file.ts';
import type { Done, Session } from '../session.ts';
import { fold } from '../terminal.ts';

/** `routebook lint FILE…`: checks each file by the server's rules, even if another one is not JSON. */
export async function lintPackages(session: Session, paths: readonly string[]): Promise<Done> {
    const { terminal } = session;
    const { paint, tableWidth } = terminal;
    const say = (line: string) => session.say(fold(line, tableWidth));
    const files = [];
    for (const path of paths) {
        const checked = await lintFile(session, path, { isOnlyOne: paths.length === 1 });
        const { file } = checked;
        if (checked.ok) {
            const { document, warnings } = checked;
            say(`${paint('green', '✓')} ${file}  ${document.site}, ${counted(document.endpoints.length, 'endpoint')}`);
            for (const line of problemLines(file, warnings, paint)) say(line);
            files.push({ file, ok: true, site: document.site, problems: [], warnings });
        } else {
            say(`${paint('red', '✗')} ${file}  ${counted(checked.problems.length, 'problem')}`);
            for (const line of problemLines(file, checked.problems, paint)) say(line);
            files.push({ file, ok: false, problems: checked.problems, warnings: [] });
        }
    }
    const isFailure = files.some(({ ok }) => !ok);
    return { result: { ok: !isFailure, files }, isFailure };
}

/** @throws CommandFault if the only file cannot be read */
async function lintFile({ terminal, settings }: Session, path: string, { isOnlyOne }: { isOnlyOne: boolean }): Promise<CheckedFile> {
    try {
        return checkFile(await readPackageFile(path, terminal), settings);
    } catch (error) {
        if (isOnlyOne || !(error instanceof CommandFault)) throw error;
        const { code, message, fields } = error;
        const { file, line, column } = { file: path, line: 1, column: 1, ...fields };
        return { ok: false, file, problems: [{ path: '', code, message, line, column }] };
    }
}
