import { isObject, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { isCategory } from '../../../shared/domain/package/taxonomy.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { guessCategory } from '../../inspect/drafts/category.ts';
import { assemblePackages, CannotImport, type Imported, type ImportOptions } from '../imported.ts';
import { type Nameable, onlyWanted } from '../only.ts';
import { siteOfBases } from '../openapi/servers.ts';
import { leaveOut, type NotCarried, type ReadOperation } from '../operation.ts';
import { cleanLine, cleanText, printableName, textsOf } from '../texts.ts';
import { methodOf, pathOf, readOperation } from './operations.ts';

/** Fields of the document that a package cannot contain, with the reason. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
    session: 'A package contains no cookies; prepare can fetch a page of the site first.',
    runtime: 'A package contains no scripts and cannot sign requests.',
    requires_stealth: 'A package does not bypass bot protection.',
    extraction_rules: 'Write select and schema for each endpoint instead.',
};

const SUPPORTED: ReadonlySet<string> = new Set([
    'site',
    'domain',
    'intent_category',
    'schema_format_version',
    'name',
    'title',
    'description',
    'version',
    'endpoints',
    'actions',
]);

/**
 * Imports a package in the format 0.1. Each of `endpoints` and `actions` is converted, or listed with the reason why not.
 * @throws CannotImport
 */
export function importRegistryPackage(document: JsonObject, options: ImportOptions): Imported {
    // YAML reads 0.1 as a number.
    const version = document['schema_format_version'] ?? '0.1';
    if (String(version) !== '0.1') throw new CannotImport('Only the format 0.1 can be imported.');
    const notCarried: NotCarried[] = [];
    const names = new Set<string>();
    const listed = [...listOf(document['endpoints'], 'endpoints'), ...listOf(document['actions'], 'actions')];
    const operations = onlyWanted(listed, options.only, notCarried).flatMap((one) => readListed(one, notCarried, names));
    reportUnsupported(document, notCarried);
    return assemblePackages(headOf(document, operations, options, notCarried), operations, notCarried, options);
}

interface Listed extends Nameable {
    where: string;
    written: Json;
    isAction: boolean;
}

function listOf(list: Json | undefined, field: 'endpoints' | 'actions'): Listed[] {
    const isAction = field === 'actions';
    return (Array.isArray(list) ? list : []).map((written, index) => {
        const operation = objectOf(written);
        const name = typeof operation['name'] === 'string' ? ` (${printableName(operation['name'])})` : '';
        return {
            where: `${field}[${index}]${name}`,
            written,
            isAction,
            method: methodOf(operation, isAction),
            path: pathOf(operation),
            tags: textsOf(operation['tags']),
        };
    });
}

function readListed({ where, written, isAction }: Listed, notCarried: NotCarried[], names: Set<string>): ReadOperation[] {
    const read = isObject(written) ? readOperation(written, isAction, names) : { ok: false as const, why: 'It is not an object.' };
    if (!read.ok) {
        notCarried.push({ where, why: read.why, scope: 'operation' });
        return [];
    }
    for (const { name: part, why } of read.left) notCarried.push({ where: `${where}, ${part}`, why, scope: 'part' });
    return [{ where, endpoint: read.endpoint }];
}

function reportUnsupported(document: JsonObject, notCarried: NotCarried[]): void {
    for (const [key, value] of Object.entries(document)) {
        if (SUPPORTED.has(key) || value === null || value === false) continue;
        leaveOut(
            notCarried,
            printableName(key),
            Object.hasOwn(UNSUPPORTED, key) ? (UNSUPPORTED[key] ?? '') : 'A package has no such field.',
        );
    }
}

function headOf(document: JsonObject, operations: readonly ReadOperation[], options: ImportOptions, notCarried: NotCarried[]) {
    const written = options.site ?? document['site'] ?? document['domain'] ?? siteOfBases(operations.map(({ endpoint }) => endpoint.url));
    const named = normaliseSite(typeof written === 'string' ? written : '');
    const site = named.ok ? named.site : String(written ?? 'unknown');
    const { domain } = document;
    if (typeof domain === 'string' && domain !== '' && domain.toLowerCase() !== site)
        leaveOut(notCarried, 'domain', `The package is for ${site} but names ${printableName(domain)} as its domain.`);
    const description = cleanText(document['description'], 4000);
    return {
        format: 'routebook/1' as const,
        site,
        title: options.title ?? cleanLine(document['name'], 200) ?? cleanLine(document['title'], 200) ?? site,
        ...(description === undefined ? {} : { description }),
        intent_category: categoryOf(document['intent_category'], operations, options, notCarried),
    };
}

function categoryOf(
    written: Json | undefined,
    operations: readonly ReadOperation[],
    options: ImportOptions,
    notCarried: NotCarried[],
): string {
    for (const category of [options.category, written]) if (typeof category === 'string' && isCategory(category)) return category;
    const guess = guessCategory(operations.flatMap(({ endpoint }) => [endpoint.name, endpoint.description ?? ''])).category;
    if (written !== undefined) leaveOut(notCarried, 'intent_category', `The taxonomy has no such category; ${guess} is used instead.`);
    return guess;
}
