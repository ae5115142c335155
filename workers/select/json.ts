import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import { isJsonTooDeep } from '../../shared/domain/json/tokens.ts';
import type { Json, Select } from '../../shared/domain/types.ts';
import { cannotSelect, InvalidResponse } from './invalid-response.ts';
import { search } from './jmespath/search.ts';

/** Allowed nesting of an answer (docs/api.md, "Hosted fetch"). */
export const MAX_DEPTH = 100;

/** Rejects JSON that is nested too deeply. Bytes are UTF-8. @throws InvalidResponse */
export function refuseDepth(text: string | Uint8Array): void {
    if (isJsonTooDeep(text, MAX_DEPTH)) {
        throw new InvalidResponse(`The answer nests more than ${MAX_DEPTH} levels deep.`, [], 'UPSTREAM_TOO_LARGE');
    }
}

/** Parses an answer as JSON. Numbers may be rounded; see `parseExact`. @throws InvalidResponse if it is no JSON, or nested too deeply */
export function parseJson(text: string): Json {
    refuseDepth(text);
    try {
        return JSON.parse(text) as Json;
    } catch {
        throw new InvalidResponse('The answer is not well-formed JSON.');
    }
}

/**
 * Runs `select` over parsed JSON: one expression, or a map of output name to expression. Numbers keep their digits.
 * @throws InvalidResponse with a pointer to the expression that failed
 */
export function selectJson(page: Json, select: Select): Json {
    if (typeof select === 'string') return searchJson(page, select, '/select');
    const entries = Object.entries(select).map(([name, expression]): [string, Json] => {
        const path = `/select/${escapePointer(name)}`;
        if (typeof expression !== 'string') throw cannotSelect(path, 'The answer is JSON, and this selector is for HTML.');
        return [name, searchJson(page, expression, path)];
    });
    return Object.fromEntries(entries);
}

/**
 * The result of one expression; null if it matches nothing.
 * @param path pointer to the expression, for the message
 * @throws InvalidResponse when it fails
 */
export function searchJson(page: Json, expression: string, path: string): Json {
    try {
        return search(page, expression);
    } catch (error) {
        const reason = error instanceof Error ? error.message.slice(0, 200) : 'it failed';
        throw new InvalidResponse('An expression of this endpoint does not fit the answer.', [
            { path, code: 'INVALID_VALUE', message: reason },
        ]);
    }
}
