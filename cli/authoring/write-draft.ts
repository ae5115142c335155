import { writeText } from '../write-file.ts';

/** Where a draft goes. */
export interface DraftPlace {
    /** `<site>.json` by default; `-` is stdout. */
    out?: string;
    force?: true;
}

/** Writes a draft where nothing is replaced by accident. @throws CommandFault where it cannot be written */
export async function writeDraft(file: string, document: object, { force }: DraftPlace): Promise<void> {
    await writeText(file, textOf(document), { replaces: force === true });
}

/** A package as a file holds it. */
export function textOf(document: object): string {
    return `${JSON.stringify(document, undefined, 4)}\n`;
}
