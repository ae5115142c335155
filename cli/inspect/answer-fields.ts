import type { Json } from '../../shared/domain/types.ts';
import { isValueAsKey } from './shape.ts';
import { hashOf } from './values.ts';

/** A response field that contained a value, and the URL of the response. */
export interface AnswerField {
    from: URL;
    field: string;
    /** Whether the value is too short to identify its field: many fields contain it. */
    isCommon: boolean;
}

/** Response fields by the hash of their value. No value can be recovered from it. Its size is bounded. */
export type AnswerFields = Map<number, AnswerField[]>;

const MAX_VALUES = 50_000;
const MAX_FIELDS = 6;
const MAX_LEVELS = 6;
const MAX_ITEMS = 60;
const MAX_LENGTH = 80;
/** Shorter texts and numbers occur in many fields. */
const MIN_DISTINCTIVE_LENGTH = 5;

/** Adds the fields of one response. @param from the URL of the response */
export function addAnswerFields(fields: AnswerFields, json: Json, from: URL, field = '', level = 0): void {
    if (typeof json === 'string' || typeof json === 'number') {
        if (field === '' || isValueAsKey(field)) return;
        const text = String(json);
        if (text === '' || text.length > MAX_LENGTH) return;
        const found = { from, field, isCommon: text.length < MIN_DISTINCTIVE_LENGTH };
        add(fields, hashOf(JSON.stringify(text)), found);
        if (typeof json === 'number') add(fields, hashOf(text), found);
    } else if (typeof json === 'object' && json !== null && level < MAX_LEVELS) {
        // The items of a list get the name of the list.
        if (Array.isArray(json)) for (const item of json.slice(0, MAX_ITEMS)) addAnswerFields(fields, item, from, field, level + 1);
        else for (const [key, value] of Object.entries(json)) addAnswerFields(fields, value, from, key, level + 1);
    }
}

function add(fields: AnswerFields, hash: number, found: AnswerField): void {
    const known = fields.get(hash);
    if (known === undefined) {
        if (fields.size < MAX_VALUES) fields.set(hash, [found]);
    } else if (
        known.length < MAX_FIELDS &&
        !known.some(({ from, field }) => field === found.field && from.pathname === found.from.pathname)
    )
        known.push(found);
}
