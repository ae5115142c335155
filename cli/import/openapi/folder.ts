import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import { splitOnce } from '../../../shared/domain/text/split-once.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { CannotImport } from '../imported.ts';
import { parseDocument } from '../parse-document.ts';

const MAX_FILES = 2000;
const MAX_BYTES = 32 * 1024 * 1024;
/** The field of the document that holds the included files. */
const KEY = 'x-routebook-files';

/**
 * Includes the files that a document refers to, if they are in its folder or below, and changes the references accordingly. Other
 * references stay as they are.
 * @param path the document's path
 * @throws CannotImport if the files are too many or too large, or one is neither JSON nor YAML
 */
export async function withFilesOfFolder(document: JsonObject, path: string): Promise<JsonObject> {
    if (!hasReferencesToFiles(document)) return document;
    const main = await realpath(path);
    const folder = dirname(main);
    const files: JsonObject = {};
    /** The beginning of the JSON pointer to each file in the document. */
    const places = new Map<string, string | undefined>([[main, '#']]);
    const waiting: { value: Json; file: string }[] = [{ value: document, file: main }];
    const named = new Map<string, string | undefined>();
    let bytes = 0;
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const { file, value } = next;
        for (const holder of referencesIn(value)) {
            const [target, pointer = ''] = splitOnce(holder['$ref'] as string, '#');
            const known = `${dirname(file)} ${target}`;
            if (target !== '' && !named.has(known)) named.set(known, await inFolder(target, file, folder));
            const name = target === '' ? file : named.get(known);
            if (name === undefined) continue;
            if (!places.has(name)) {
                const { size } = await stat(name);
                bytes += size;
                if (places.size > MAX_FILES || bytes > MAX_BYTES)
                    throw new CannotImport(
                        `${path} refers to more than ${MAX_FILES.toLocaleString('en')} files or ${MAX_BYTES / 1024 / 1024} MiB.`,
                    );
                const read = parseDocument(await readFile(name, 'utf8'), relative(folder, name)) as Json;
                const key = String(places.size);
                places.set(name, `#/${KEY}/${key}`);
                files[key] = read;
                waiting.push({ value: read, file: name });
            }
            holder['$ref'] = `${places.get(name)}${pointer.startsWith('/') ? pointer : ''}`;
        }
    }
    return { ...document, [KEY]: files };
}

function hasReferencesToFiles(document: JsonObject): boolean {
    return referencesIn(document).some(({ $ref: ref }) => typeof ref === 'string' && !ref.startsWith('#'));
}

export function referencesIn(value: Json): JsonObject[] {
    const found: JsonObject[] = [];
    const seen = new Set<Json>();
    const waiting: Json[] = [value];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (typeof next !== 'object' || next === null || seen.has(next)) continue;
        seen.add(next);
        if (isObject(next) && typeof next['$ref'] === 'string') found.push(next);
        waiting.push(...Object.values(next).filter((one) => typeof one === 'object'));
    }
    return found;
}

/** The real path of the file that a reference names. Undefined for a URL, a missing file, or a file outside of the folder. */
async function inFolder(target: string, from: string, folder: string): Promise<string | undefined> {
    if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return undefined;
    try {
        const name = await realpath(resolve(dirname(from), decodeURIComponent(target)));
        return name.startsWith(folder + sep) && (await stat(name)).isFile() ? name : undefined;
    } catch {
        return undefined;
    }
}
