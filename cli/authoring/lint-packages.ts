import { counted, judgePackage, problemLines } from '../package/judge-package.ts';
import { readPackageFile } from '../package/read-package-file.ts';
import type { Done, Session } from '../session.ts';

/** `routebook lint FILE…`: checks each file by the server's rules. */
export async function lintPackages({ terminal, settings, say }: Session, paths: readonly string[]): Promise<Done> {
    const { paint } = terminal;
    const files = [];
    for (const path of paths) {
        const judged = judgePackage(await readPackageFile(path, terminal), settings);
        const { file } = judged;
        if (judged.ok) {
            const { document, warnings } = judged;
            say(`${paint('green', '✓')} ${file}  ${document.site}, ${counted(document.endpoints.length, 'endpoint')}`);
            for (const line of problemLines(file, warnings, paint)) say(line);
            files.push({ file, ok: true, site: document.site, problems: [], warnings });
        } else {
            say(`${paint('red', '✗')} ${file}  ${counted(judged.problems.length, 'problem')}`);
            for (const line of problemLines(file, judged.problems, paint)) say(line);
            files.push({ file, ok: false, problems: judged.problems, warnings: [] });
        }
    }
    const isFailure = files.some(({ ok }) => !ok);
    return { result: { ok: !isFailure, files }, isFailure };
}
