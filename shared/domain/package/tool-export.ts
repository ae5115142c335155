import { inlinerFor } from '../json/schema/inline.ts';
import type { Endpoint, JsonObject, PackageDocument } from '../types.ts';
import { readEndpoint } from './endpoint.ts';
import { schemaOfParams } from './param-schema.ts';

/** A function for the tool list of a model. Its name and input are `endpoint` and `params` of POST /v1/fetch. */
export interface ToolDefinition {
    /** Unique in its package; 1 to 64 characters of a-z, 0-9 and _. */
    name: string;
    description: string;
    /** JSON Schema 2020-12 of an object, without references. */
    input_schema: JsonObject;
}

/** The endpoints of a package as tool definitions (docs/api.md, "The registry"), in the order of the package. */
export function exportTools(document: PackageDocument): ToolDefinition[] {
    const inliner = inlinerFor(document);
    return document.endpoints.map(readEndpoint).map((endpoint) => ({
        name: endpoint.name,
        description: describe(document, endpoint),
        input_schema: schemaOfParams(endpoint.params, endpoint.bodyFormat, inliner),
    }));
}

/** Maximum length of a description that model providers accept, in characters. */
const MAX_DESCRIPTION = 1024;

function describe({ site, title }: PackageDocument, { description, effect, hosted, name }: Endpoint): string {
    const notes = [
        effect === 'write' ? `Changes something on ${site}.` : '',
        hosted ? '' : 'Cannot be called through hosted fetch: build the request from the catalog.',
    ];
    const head = `${title} (${site}): `;
    const tail = notes.filter((note) => note !== '').map((note) => ` ${note}`);
    const room = MAX_DESCRIPTION - head.length - tail.join('').length;
    return `${head}${shorten(description.trim() || `${name.replaceAll('_', ' ')}.`, room)}${tail.join('')}`;
}

function shorten(text: string, max: number): string {
    return text.length <= max
        ? text
        : `${text
              .slice(0, max - 1)
              .toWellFormed()
              .trimEnd()}…`;
}
