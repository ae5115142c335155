import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_BYTES } from '../shared/contracts/body-bytes.ts';
import { checkPackage } from '../shared/domain/package/rules.ts';
import { type EgressAllowEntry, isPortAllowed } from '../shared/domain/site/egress-allow.ts';
import type { PackageDocument } from '../shared/domain/types.ts';
import type { Db } from '../shared/platform/db.ts';
import { codeOfError } from '../shared/platform/error-code.ts';
import { publishStarter, type StarterLoad } from '../shared/store/registry/starter.ts';

export const STARTER_FOLDER = fileURLToPath(new URL('../schemas', import.meta.url));

const MAX_FILES = 1000;
const SHOWN_PROBLEMS = 5;

/** A file that cannot be loaded. The message names the file and what to change. */
export class LoadFault extends Error {
    readonly code: 'NOT_FOUND' | 'INVALID_JSON' | 'PAYLOAD_TOO_LARGE' | 'SCHEMA_INVALID';

    constructor(code: LoadFault['code'], message: string) {
        super(message);
        this.name = 'LoadFault';
        this.code = code;
    }
}

export type LoadedPackage = { site: string } & StarterLoad;

/** Reads one package file, or the `.json` files of a folder by name. @throws LoadFault if one of them cannot be published */
export function readPackages(path: string, egressAllow: readonly EgressAllowEntry[]): PackageDocument[] {
    return filesAt(path).map((file) => requireValidPackage(parseFile(file), basename(file), egressAllow));
}

/** Checks a package by the rules of publishing. @throws LoadFault if it breaks one */
export function requireValidPackage(document: unknown, name: string, egressAllow: readonly EgressAllowEntry[]): PackageDocument {
    const checked = checkPackage(document, { isPortAllowed: (port: number) => isPortAllowed(egressAllow, port) });
    if (checked.ok) return checked.document;
    const shown = checked.problems.slice(0, SHOWN_PROBLEMS).map(({ path, code, message }) => `${path} ${code} ${message}`);
    const rest = checked.problems.length - shown.length;
    throw new LoadFault('SCHEMA_INVALID', `${name} breaks the rules: ${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`);
}

/**
 * Publishes packages for the workspace Routebook, unverified. Skips sites that others own or maintain.
 * @param options.then runs in the transaction of each package
 * @param options.isDryRun returns the results without storing anything
 */
export async function loadPackages(
    db: Db,
    documents: readonly PackageDocument[],
    {
        then = async () => undefined,
        isDryRun = false,
    }: { then?: (trx: Db, loaded: LoadedPackage) => Promise<void>; isDryRun?: boolean } = {},
): Promise<LoadedPackage[]> {
    const results: LoadedPackage[] = [];
    for (const document of documents) {
        const trx = await db.transaction();
        try {
            const loaded = { site: document.site, ...(await publishStarter(trx, document)) };
            if (!isDryRun) await then(trx, loaded);
            results.push(loaded);
            await (isDryRun ? trx.rollback() : trx.commit());
        } catch (error) {
            await trx.rollback();
            throw error;
        }
    }
    return results;
}

function filesAt(path: string): string[] {
    const stats = readable(path, () => statSync(path));
    if (stats.isFile()) return [path];
    if (!stats.isDirectory()) throw new LoadFault('NOT_FOUND', `${path} is neither a file nor a folder.`);
    const names = readable(path, () => readdirSync(path))
        .filter((name) => name.endsWith('.json'))
        .sort();
    if (names.length === 0) throw new LoadFault('NOT_FOUND', `The folder ${path} has no .json file.`);
    if (names.length > MAX_FILES) {
        throw new LoadFault('PAYLOAD_TOO_LARGE', `${path} has ${names.length} files, and at most ${MAX_FILES} are loaded at once.`);
    }
    return names.map((name) => join(path, name));
}

function parseFile(file: string): unknown {
    const { size } = readable(file, () => statSync(file));
    if (size > PACKAGE_BYTES) {
        throw new LoadFault('PAYLOAD_TOO_LARGE', `${file} has ${size} bytes, and a package has at most ${PACKAGE_BYTES}.`);
    }
    const text = readable(file, () => readFileSync(file, 'utf8'));
    try {
        return JSON.parse(text.replace(/^\ufeff/, ''));
    } catch (error) {
        if (error instanceof SyntaxError) throw new LoadFault('INVALID_JSON', `${file} is not well-formed JSON: ${error.message}`);
        throw error;
    }
}

function readable<T>(path: string, read: () => T): T {
    try {
        return read();
    } catch (error) {
        const code = codeOfError(error);
        if (code === 'ENOENT') throw new LoadFault('NOT_FOUND', `There is no file or folder ${path}.`);
        throw new LoadFault('NOT_FOUND', `${path} cannot be read (${code}).`);
    }
}
