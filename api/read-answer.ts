import { beginningOf } from './beginning-of.ts';
import { partsOf } from './fetch-answer.ts';

/** Characters of an answer that are read: more than an agent or a page is shown, and a few milliseconds of work. */
const MOST = 256 * 1024;

/**
 * What our own API answered, for a page or a tool of this process. Of a large answer only the beginning is read: a site may send 5 MB
 * of small values, and no page shows more of them.
 */
export function readAnswer(payload: string): { body: Record<string, unknown>; isCut: boolean } {
    if (payload.length <= MOST) return { body: JSON.parse(payload), isCut: false };
    const parts = partsOf(payload);
    if (parts === undefined) return { body: JSON.parse(beginningOf(payload, MOST)), isCut: true };
    return {
        body: { success: true, data: JSON.parse(beginningOf(parts.data, MOST)), meta: JSON.parse(parts.meta) },
        isCut: parts.data.length > MOST,
    };
}
