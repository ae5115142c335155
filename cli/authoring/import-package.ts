import { isPortAllowed } from '../../shared/domain/site/egress-allow.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { CommandFault, fileFault } from '../failures.ts';
import { CannotImport, type Imported, importDocument, type NotCarried, readDocument } from '../import/import.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import type { Paint } from '../terminal.ts';
import { type DraftOverrides, readOverrides } from './draft-overrides.ts';
import { checkAbsent, type DraftPlace, draftFile, textOf, withEditorSchema, writeDraft } from './write-draft.ts';

interface ImportFileOptions extends DraftPlace, DraftOverrides {
    /** Tags, paths and methods of the operations to import. */
    only?: string[];
    single?: true;
}

/** `routebook import FILE`: converts a package of another registry or an OpenAPI document, and lists what could not be converted. */
export async function importPackage(session: Session, path: string, options: ImportFileOptions): Promise<Done> {
    const { terminal, settings } = session;
    const { only = [], single } = options;
    const { egressAllow } = settings.egress();
    const imported = await read(path, {
        ...readOverrides(options),
        only,
        single: single === true,
        isPortAllowed: (port) => isPortAllowed(egressAllow, port),
    });
    const { counts, carried, notCarried, leftToDo } = imported;
    const document = withEditorSchema(imported.package, session.server);
    const packages = imported.packages.map((one) => withEditorSchema(one, session.server));
    const result = { counts, carried, not_carried: notCarried, left_to_do: leftToDo };
    if (counts.carried === 0) throw nothingCarried(path, imported, result, terminal.paintError);
    const made = packages.length === 1 ? { package: document } : { package: document, packages };
    if (options.out === '-') {
        for (const line of reportLines(imported, terminal.paintError)) session.note(line);
        // Several packages are written as JSON lines.
        const texts = packages.length === 1 ? [textOf(document).trimEnd()] : packages.map((one) => JSON.stringify(one));
        return { result: { file: null, ...made, ...result }, lines: texts };
    }
    const files = filesOf(packages, options.out);
    for (const { file } of files) if (options.force !== true) checkAbsent(file);
    for (const { file, document: one } of files) await writeDraft(file, one, options);
    const { paint } = terminal;
    const heads = files.map(({ file, document: { endpoints } }) => {
        const count = packages.length === 1 ? `of ${counts.operations} imported` : 'imported';
        return `${paint('green', '✓')} ${paint('bold', file)}: ${counted(endpoints.length, 'operation')} ${count}`;
    });
    const sum =
        packages.length === 1 ? [] : [`${counts.carried} of ${counted(counts.operations, 'operation')} in ${packages.length} packages`];
    const names = files.map(({ file }) => file);
    const next = ['', `Look it over, then: ${PROGRAM} lint ${names.join(' ')}`];
    const lines = [...heads, ...sum, ...reportLines(imported, paint), ...next];
    return { result: { file: names[0] ?? null, ...(names.length === 1 ? {} : { files: names }), ...made, ...result }, lines };
}

/** One file per site, named after it; with `--out` the first gets that name and the others go to the same folder. */
function filesOf(packages: readonly PackageDocument[], out: string | undefined): { file: string; document: PackageDocument }[] {
    return packages.map((document, index) => {
        if (out === undefined) return { file: draftFile(document.site), document };
        const [label = ''] = draftFile(document.site).split('.', 1);
        return { file: index === 0 ? out : out.replace(/(\.json)?$/i, (end) => `-${label}${end}`), document };
    });
}

/** The error for a draft without endpoints, which is not written. */
function nothingCarried(path: string, imported: Imported, fields: object, paint: Paint): CommandFault {
    const { operations } = imported.counts;
    const message =
        operations === 0
            ? `${path} has no operations.`
            : operations === 1
              ? `The one operation of ${path} cannot be imported.`
              : `None of the ${operations} operations of ${path} can be imported.`;
    return new CommandFault('NOTHING_CARRIED', message, {
        lines: reportLines({ ...imported, leftToDo: [] }, paint),
        fields: { file: path, ...fields },
    });
}

type DocumentOptions = Parameters<typeof importDocument>[1];

async function read(path: string, options: DocumentOptions): Promise<Imported> {
    try {
        return importDocument(await readDocument(path), options);
    } catch (error) {
        if (error instanceof CannotImport) throw cannotImport(error, path);
        throw fileFault(error, path);
    }
}

/** Adds the file's name to the message, since a document does not know its file. */
export function cannotImport({ message }: CannotImport, file: string): CommandFault {
    return new CommandFault('CANNOT_IMPORT', message.includes(file) ? message : `${file}: ${message}`, { fields: { file } });
}

const TITLES: Readonly<Record<NotCarried['scope'], string>> = {
    operation: 'Operations that were not imported',
    part: 'Parts that were left out',
    document: 'In the document',
};

function reportLines({ notCarried, leftToDo }: Imported, paint: Paint): string[] {
    const groups = (['operation', 'part', 'document'] as const).flatMap((scope) => {
        const lines = notCarried.filter((one) => one.scope === scope).map(({ where, why }) => `  ${where}  ${paint('dim', why)}`);
        return lines.length === 0 ? [] : ['', `${paint('bold', TITLES[scope])} (${lines.length})`, ...lines];
    });
    return [...groups, ...toDoLines(leftToDo, paint)];
}

/** Lines that tell the author what to do before the draft can be published. */
export function toDoLines(leftToDo: readonly { site?: string; path: string; message: string }[], paint: Paint): string[] {
    if (leftToDo.length === 0) return [];
    return [
        '',
        paint('bold', 'To do'),
        ...leftToDo.map(({ site, path, message }) => {
            const where = paint('cyan', path === '' ? '/' : path);
            return `  ${site === undefined ? where : `${site}  ${where}`}  ${message}`;
        }),
    ];
}
