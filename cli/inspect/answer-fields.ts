import type { Json } from '../../shared/domain/types.ts';
import { isValueAsKey } from './shape.ts';
import { hashOf } from './values.ts';

/** A field of an answer that had a value, and the address that answered. */
export interface AnswerField {
    from: URL;
    field: string;
    /** Whether the value tells nothing alone: a small number or a short text, which many fields have. */
    isCommon: boolean;
}

/** In which fields of answers a value stood, by its hash: nothing can be read out of it. Bounded. */
export type AnswerFields = Map<number, AnswerField[]>;

const MAX_VALUES = 50_000;
const MOST_FIELDS = 6;
const MAX_LEVELS = 6;
const MAX_ITEMS = 60;
const LONGEST = 80;
/** Shorter texts and numbers are common. */
const TELLING = 5;

/** Remembers the fields of one answer. @param from its address */
export function addAnswerFields(fields: AnswerFields, json: Json, from: URL, field = '', level = 0): void {
    if (typeof json === 'string' || typeof json === 'number') {
        if (field === '' || isValueAsKey(field)) return;
        const text = String(json);
        if (text === '' || text.length > LONGEST) return;
        const found = { from, field, isCommon: text.length < TELLING };
        add(fields, hashOf(JSON.stringify(text)), found);
        if (typeof json === 'number') add(fields, hashOf(text), found);
    } else if (typeof json === 'object' && json !== null && level < MAX_LEVELS) {
        // The items of a list are called as the list.
        if (Array.isArray(json)) for (const item of json.slice(0, MAX_ITEMS)) addAnswerFields(fields, item, from, field, level + 1);
        else for (const [key, value] of Object.entries(json)) addAnswerFields(fields, value, from, key, level + 1);
    }
}

function add(fields: AnswerFields, hash: number, found: AnswerField): void {
    const known = fields.get(hash);
    if (known === undefined) {
        if (fields.size < MAX_VALUES) fields.set(hash, [found]);
    } else if (
        known.length < MOST_FIELDS &&
        !known.some(({ from, field }) => field === found.field && from.pathname === found.from.pathname)
    )
        known.push(found);
}
