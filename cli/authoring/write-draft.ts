import { writeFile } from 'node:fs/promises';
import { CommandFault } from '../failures.ts';

/** Where a draft goes. */
export interface DraftPlace {
    /** `<site>.json` by default; `-` is stdout. */
    out?: string;
    force?: true;
}

/** Writes a draft where nothing is replaced by accident. @throws CommandFault where it cannot be written */
export async function writeDraft(file: string, document: object, { force }: DraftPlace): Promise<void> {
    try {
        await writeFile(file, textOf(document), { flag: force === true ? 'w' : 'wx' });
    } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : '';
        if (code === 'EEXIST') throw new CommandFault('FILE_EXISTS', `${file} exists already; --force replaces it, --out names another.`);
        throw new CommandFault('FILE_UNWRITABLE', `${file} cannot be written (${code}).`);
    }
}

/** A package as a file holds it. */
export function textOf(document: object): string {
    return `${JSON.stringify(document, undefined, 4)}\n`;
}
