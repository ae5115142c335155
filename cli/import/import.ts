/**
 * How to use this file: `routebook import FILE` calls `importDocument(await readDocument(FILE), options)`, writes the `packages`, and
 * prints `notCarried` and `counts`.
 */
import { isObject, listOf } from '../../shared/domain/json/schema/structure.ts';
import { CannotImport, type Imported, type ImportOptions } from './imported.ts';
import { importOpenApi } from './openapi/import-openapi.ts';
import { importRegistryPackage } from './registry/import-registry-package.ts';

export { CannotImport, type Imported, type ImportOptions } from './imported.ts';
export type { NotCarried } from './operation.ts';
export { readDocument } from './read-document.ts';

/**
 * Converts a parsed document: an OpenAPI 3.x document, or a package in the format 0.1 of similar registries. `readDocument` has converted
 * Swagger 2.0 before. Every part that cannot be converted is listed, and the counts cover every operation.
 * @throws CannotImport if the document is of neither kind
 */
export function importDocument(document: unknown, options: ImportOptions = {}): Imported {
    if (!isObject(document)) throw new CannotImport('The document is not an object.');
    const { openapi } = document;
    if (typeof openapi === 'string' || typeof openapi === 'number') {
        // YAML reads 3.0 and 3.1 without quotes as numbers.
        if (/^3(?:\.\d|$)/.test(String(openapi))) return importOpenApi(document, options);
        throw new CannotImport('Only OpenAPI 3.x and Swagger 2.0 can be imported.');
    }
    if (document['swagger'] !== undefined || document['swaggerVersion'] !== undefined)
        throw new CannotImport('Only OpenAPI 3.x and Swagger 2.0 can be imported.');
    if (document['schema_format_version'] !== undefined || (document['site'] !== undefined && hasTemplates(document)))
        return importRegistryPackage(document, options);
    if (document['format'] === 'routebook/1') throw new CannotImport('This is a package already: check it with "routebook lint".');
    throw new CannotImport('This is neither an OpenAPI nor a Swagger document, nor a package with schema_format_version "0.1".');
}

function hasTemplates(document: Record<string, unknown>): boolean {
    const operations = [document['endpoints'], document['actions']].flatMap(listOf);
    return operations.some((operation) => isObject(operation) && typeof operation['url_template'] === 'string');
}
