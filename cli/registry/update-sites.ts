import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readGenerated } from '../../shared/domain/package/typescript-export.ts';
import { type DiffLine, diffLines } from '../../shared/domain/text/diff-lines.ts';
import { CommandFault } from '../failures.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import type { Paint } from '../terminal.ts';
import { writeText } from '../write-file.ts';
import { functionsOf } from './add-site.ts';

interface UpdateOptions {
    out: string;
    dryRun?: true;
}

interface Update {
    site: string;
    file: string;
    changed: boolean;
    /** Removed and added lines of types and functions. */
    removed: string[];
    added: string[];
}

/** `routebook update [SITE...]`: shows what changed in the generated types and writes the files of the latest versions. */
export async function updateSites({ client, terminal }: Session, sites: readonly string[], { out, dryRun }: UpdateOptions): Promise<Done> {
    const files = await generatedIn(out);
    const unknown = sites.find((site) => !files.some((one) => one.site === site));
    if (unknown !== undefined)
        throw new CommandFault('FILE_UNREADABLE', `${out} has no functions of ${unknown}; "${PROGRAM} add ${unknown}" writes them.`);
    const updates: Update[] = [];
    const lines: string[] = [];
    for (const { site, path, source, only } of files.filter((one) => sites.length === 0 || sites.includes(one.site))) {
        const latest = await functionsOf(client(), site, only === undefined ? {} : { only });
        const changed = latest.source !== source;
        const differences = changed ? diffLines(typesOf(source), typesOf(latest.source)) : [];
        if (changed && dryRun !== true) await writeText(path, latest.source, { replaces: true });
        updates.push({ site, file: path, changed, removed: textsOf(differences, 'removed'), added: textsOf(differences, 'added') });
        lines.push(
            headline(site, { changed, differences, dryRun }, terminal.paint),
            ...differences.map((line) => paintLine(line, terminal.paint)),
        );
    }
    return {
        result: { updates },
        lines: lines.length === 0 ? [`${out} has no generated functions; "${PROGRAM} add SITE" writes them.`] : lines,
    };
}

async function generatedIn(folder: string) {
    const names = await readdir(folder).catch(() => []);
    const paths = names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
    const files = await Promise.all(paths.toSorted().map(async (path) => ({ path, source: await readFile(path, 'utf8') })));
    return files.flatMap(({ path, source }) => {
        const generated = readGenerated(source);
        return generated === undefined ? [] : [{ ...generated, site: basename(path, '.ts'), path, source }];
    });
}

/** Lines without those that name the version. */
function typesOf(source: string): string {
    return source
        .split('\n')
        .filter((line) => !line.startsWith('export const VERSION = ') && !/^(\/\*\*| \*) .*, version \d+\.$/.test(line))
        .join('\n');
}

function textsOf(lines: readonly DiffLine[], wanted: DiffLine['kind']): string[] {
    return lines.filter(({ kind }) => kind === wanted).map(({ text }) => text);
}

function headline(
    site: string,
    { changed, differences, dryRun }: { changed: boolean; differences: readonly DiffLine[]; dryRun: true | undefined },
    paint: Paint,
): string {
    const name = paint('bold', site);
    if (!changed) return `${paint('dim', '=')} ${name} is the latest version`;
    const verb = dryRun === true ? 'would be updated' : 'updated';
    const isSame = differences.every(({ kind }) => kind === 'same');
    return `${paint('green', '✓')} ${name} ${verb}${isSame ? '; its types are the same' : ':'}`;
}

function paintLine({ kind, text }: DiffLine, paint: Paint): string {
    if (kind === 'removed') return paint('red', `  - ${text}`);
    if (kind === 'added') return paint('green', `  + ${text}`);
    return paint('dim', `    ${text}`);
}
