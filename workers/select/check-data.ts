import { withDoubles } from '../../shared/domain/json/exact-numbers.ts';
import { validateBySchema } from '../../shared/domain/json/schema/interpret.ts';
import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';
import type { JsonObject, JsonSchema } from '../../shared/domain/types.ts';
import type { DetailCode } from '../../shared/refusals.ts';
import { InvalidResponse } from './invalid-response.ts';
import { DATA_TOO_LARGE, MAX_OUTPUT } from './measure.ts';

/** Validates `data` by `response.schema` and returns it. It may have ExactNumbers. @throws InvalidResponse */
export function validateData(data: JsonObject, schema: JsonSchema | undefined): JsonObject {
    if (schema !== undefined) checkData(withDoubles(data) as JsonObject, schema);
    return data;
}

/** The same for data without ExactNumbers. */
export function checkData(data: JsonObject, schema: JsonSchema | undefined): JsonObject {
    if (schema === undefined) return data;
    const verdict = validateBySchema(schema, data);
    if (verdict.ok) return data;
    const details = verdict.errors.map(({ path, message, keyword }) => ({ path: withoutSecret(path), message, code: codeOf(keyword) }));
    throw new InvalidResponse('The answer does not fit the response schema of this endpoint.', details);
}

/** Replaces a pointer that contains a secret. Its steps are keys of the site's data. */
function withoutSecret(pointer: string): string {
    return findSecrets(pointer) === undefined ? pointer : '/[removed]';
}

function codeOf(keyword: string): DetailCode {
    if (keyword === 'required') return 'REQUIRED';
    if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') return 'UNKNOWN_FIELD';
    return keyword === 'type' ? 'INVALID_TYPE' : 'INVALID_VALUE';
}

/** @throws InvalidResponse for JSON of more than 10 MiB */
export function refuseLength(text: string): void {
    if (Buffer.byteLength(text) > MAX_OUTPUT) throw new InvalidResponse(DATA_TOO_LARGE);
}
