import { checkFile, counted, problemLines } from '../package/check-package.ts';
import { readPackageFile } from '../package/read-package-file.ts';
import type { Done, Session } from '../session.ts';

/** `routebook lint FILE…`: checks each file by the server's rules. */
export async function lintPackages({ terminal, settings, say }: Session, paths: readonly string[]): Promise<Done> {
    const { paint } = terminal;
    const files = [];
    for (const path of paths) {
        const checked = checkFile(await readPackageFile(path, terminal), settings);
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
