import { existsSync } from 'node:fs';
import { CommandFault } from '../failures.ts';
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

/** Before the first of several files is written. @throws CommandFault FILE_EXISTS */
export function refuseToReplace(file: string): void {
    if (existsSync(file)) throw new CommandFault('FILE_EXISTS', `${file} exists already; --force replaces it, --out names another.`);
}

const WIDTH = 140;

/** A package as a file holds it: what fits into a line stands on one, so that a large package stays small and can be read. */
export function textOf(document: object): string {
    return `${laidOut(document, '')}\n`;
}

function laidOut(value: unknown, indent: string): string {
    const line = JSON.stringify(value) ?? 'null';
    const isStructure = typeof value === 'object' && value !== null;
    // The head and the list of endpoints are always open.
    if (!isStructure || (indent !== '' && line.length + indent.length <= WIDTH) || line.length <= 2) return line;
    const inner = `${indent}  `;
    const isList = Array.isArray(value);
    const parts = isList
        ? value.map((item) => laidOut(item, inner))
        : Object.entries(value)
              .filter(([, item]) => item !== undefined)
              .map(([key, item]) => `${JSON.stringify(key)}: ${laidOut(item, inner)}`);
    return `${isList ? '[' : '{'}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${isList ? ']' : '}'}`;
}
