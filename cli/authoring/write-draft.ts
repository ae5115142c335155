import { existsSync } from 'node:fs';
import { PACKAGE_SCHEMA_PATH } from '../../shared/domain/package/package-schema.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { fileExists, writeText } from '../write-file.ts';

export interface DraftPlace {
    /** `<site>.json` by default; `-` is stdout. */
    out?: string;
    force?: true;
}

/** Adds the address of the JSON Schema by which editors complete and check a package. Publishing leaves it out. */
export function withEditorSchema(document: PackageDocument, server: string): PackageDocument & { $schema: string } {
    return { $schema: `${server}${PACKAGE_SCHEMA_PATH}`, ...document };
}

/** The name of the file of a draft. A foreign document may name any text as its site, so the name is kept within the folder. */
export function draftFile(site: string): string {
    const name = site.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[.-]+/, '');
    return `${name === '' ? 'draft' : name}.json`;
}

/** Writes a draft. Replaces an existing file only with `force`. @throws CommandFault if it cannot be written */
export async function writeDraft(file: string, document: object, { force }: DraftPlace): Promise<void> {
    await writeText(file, textOf(document), { replaces: force === true });
}

/** Checks that a file does not exist yet, before the first of several files is written. @throws CommandFault FILE_EXISTS */
export function checkAbsent(file: string): void {
    if (existsSync(file)) throw fileExists(file);
}

const WIDTH = 140;

/** Formats a package: values that fit on one line stay on one line, which keeps large files short and readable. */
export function textOf(document: object): string {
    return `${laidOut(document, '')}\n`;
}

function laidOut(value: unknown, indent: string): string {
    const line = JSON.stringify(value) ?? 'null';
    const isStructure = typeof value === 'object' && value !== null;
    // The package and its list of endpoints are always broken into lines.
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
