import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { truncateJson } from '../../shared/domain/json/truncate-json.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { splitAnswer } from '../../shared/fetch/answer-text.ts';

/** Maximum number of characters of an answer that are parsed. This is more than an agent or a page shows, and takes a few milliseconds. */
const MAX = 256 * 1024;

/**
 * Reads an answer of our own API, for a page or a tool in this process. Reads only the beginning of a large answer, since a site may send 5
 * MB of small values.
 */
export function readAnswer(payload: string): { body: Record<string, unknown>; isCut: boolean } {
    if (payload.length <= MAX) return { body: parseExact<JsonObject>(payload), isCut: false };
    const parts = splitAnswer(payload);
    if (parts === undefined) return { body: parseExact<JsonObject>(truncateJson(payload, MAX)), isCut: true };
    return {
        body: { success: true, data: parseExact(truncateJson(parts.data, MAX)), meta: JSON.parse(parts.meta) },
        isCut: parts.data.length > MAX,
    };
}
