import { readFile, stat } from 'node:fs/promises';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { CannotImport } from './imported.ts';
import { withFilesOfFolder } from './openapi/folder.ts';
import { MAX_JSON_BYTES, parseDocument } from './parse-document.ts';

/**
 * Reads a JSON or YAML file. Includes the files of its folder that an OpenAPI document refers to, and converts Swagger 2.0 to OpenAPI 3.
 * @throws CannotImport if it is neither JSON nor YAML, too large, or broken
 */
export async function readDocument(path: string): Promise<unknown> {
    const { size } = await stat(path);
    if (size > MAX_JSON_BYTES) throw new CannotImport(`${path} is larger than ${MAX_JSON_BYTES / 1024 / 1024} MiB.`);
    const document = parseDocument(await readFile(path, 'utf8'), path);
    if (!isObject(document) || (document['openapi'] === undefined && document['swagger'] === undefined)) return document;
    const whole = await withFilesOfFolder(document as JsonObject, path);
    // The converter is loaded for the few documents that need it.
    return String(whole.swagger).startsWith('2') ? (await import('./openapi/swagger.ts')).fromSwagger(whole, path) : whole;
}
