import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import type { Resolver } from './refs.ts';

/** Whether a field of a multipart body is a file, or a list of files. */
export function fileIn(schema: Json | undefined, resolver: Resolver): 'one' | 'several' | undefined {
    const resolved = resolver.resolve(schema) ?? {};
    if (isFile(resolved)) return 'one';
    const items = resolver.resolve(resolved['items']);
    return items !== undefined && isFile(items) ? 'several' : undefined;
}

/** A file has `format: binary` in OpenAPI 3.0, and a media type without an encoding in 3.1. */
function isFile(schema: JsonObject): boolean {
    const isBinary = schema['format'] === 'binary' || schema['type'] === 'file';
    return isBinary || (typeof schema['contentMediaType'] === 'string' && schema['contentEncoding'] === undefined);
}
