import { isPortAllowed } from '../../shared/domain/site/egress-allow.ts';
import { CommandFault } from '../failures.ts';
import { CannotImport, type Imported, importDocument, type NotCarried, readDocument } from '../import/import.ts';
import { counted } from '../package/judge-package.ts';
import type { Done, Session } from '../session.ts';
import type { Paint } from '../terminal.ts';
import { type DraftPlace, textOf, writeDraft } from './write-draft.ts';

export interface ImportFileOptions extends DraftPlace {
    site?: string;
    title?: string;
    category?: string;
}

/** `routebook import FILE`: a package of another registry, or an OpenAPI document, and a list of what could not be carried over. */
export async function importPackage(session: Session, path: string, options: ImportFileOptions): Promise<Done> {
    const { terminal, settings } = session;
    const { site, title, category } = options;
    const { egressAllow } = settings.egress();
    const imported = await read(path, {
        ...(site === undefined ? {} : { site }),
        ...(title === undefined ? {} : { title }),
        ...(category === undefined ? {} : { category }),
        isPortAllowed: (port) => isPortAllowed(egressAllow, port),
    });
    const { package: document, counts, carried, notCarried, leftToDo } = imported;
    const result = { counts, carried, not_carried: notCarried, left_to_do: leftToDo };
    if (counts.carried === 0) throw nothingCarried(path, imported, result, terminal.paintError);
    if (options.out === '-') {
        for (const line of reportLines(imported, terminal.paintError)) session.note(line);
        return { result: { file: null, package: document, ...result }, lines: [textOf(document).trimEnd()] };
    }
    const file = options.out ?? `${document.site}.json`;
    await writeDraft(file, document, options);
    const { paint } = terminal;
    const head = `${paint('green', '✓')} ${paint('bold', file)}: ${counted(counts.carried, 'operation')} of ${counts.operations} carried over`;
    return { result: { file, package: document, ...result }, lines: [head, ...reportLines(imported, paint)] };
}

/** A draft without endpoints is of no use: nothing is written. */
function nothingCarried(path: string, imported: Imported, fields: object, paint: Paint): CommandFault {
    const { operations } = imported.counts;
    const message =
        operations === 0 ? `${path} has no operations.` : `None of the ${counted(operations, 'operation')} of ${path} can be carried over.`;
    return new CommandFault('NOTHING_CARRIED', message, {
        lines: reportLines({ ...imported, leftToDo: [] }, paint),
        fields: { file: path, ...fields },
    });
}

type Wishes = Parameters<typeof importDocument>[1];

async function read(path: string, wishes: Wishes): Promise<Imported> {
    try {
        return importDocument(await readDocument(path), wishes);
    } catch (error) {
        if (error instanceof CannotImport) throw new CommandFault('CANNOT_IMPORT', error.message, { fields: { file: path } });
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (code === 'ENOENT') throw new CommandFault('FILE_NOT_FOUND', `There is no file ${path}.`, { fields: { file: path } });
        throw error;
    }
}

const TITLES: Readonly<Record<NotCarried['scope'], string>> = {
    operation: 'Operations that were not carried over',
    part: 'Parts that were left out',
    document: 'Of the document',
};

function reportLines({ notCarried, leftToDo }: Imported, paint: Paint): string[] {
    const groups = (['operation', 'part', 'document'] as const).flatMap((scope) => {
        const lines = notCarried.filter((one) => one.scope === scope).map(({ where, why }) => `  ${where}  ${paint('dim', why)}`);
        return lines.length === 0 ? [] : ['', `${paint('bold', TITLES[scope])} (${lines.length})`, ...lines];
    });
    return [...groups, ...toDoLines(leftToDo, paint)];
}

/** What the author has to do before the draft can be published. */
export function toDoLines(leftToDo: readonly { path: string; message: string }[], paint: Paint): string[] {
    if (leftToDo.length === 0) return [];
    return [
        '',
        paint('bold', 'Left to do'),
        ...leftToDo.map(({ path, message }) => `  ${paint('cyan', path === '' ? '/' : path)}  ${message}`),
    ];
}
