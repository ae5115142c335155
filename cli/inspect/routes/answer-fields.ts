import type { Json } from '../../../shared/domain/types.ts';
import { isValueAsKey } from '../words/shape.ts';
import { hashOf } from '../words/values.ts';

/** A response field that contained a value, and what was asked: a URL, and the call where the body names it. */
export interface AnswerField {
    from: URL;
    operation: string | undefined;
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

/** Adds the fields of one response. @param asked its URL, and the key of the operation that its request named */
export function addAnswerFields(
    fields: AnswerFields,
    json: Json,
    asked: Pick<AnswerField, 'from' | 'operation'>,
    // A call answers with a list as `items`.
    field = Array.isArray(json) ? 'items' : '',
    level = 0,
): void {
    if (typeof json === 'string' || typeof json === 'number') {
        if (field === '' || isValueAsKey(field)) return;
        const text = String(json);
        if (text === '' || text.length > MAX_LENGTH) return;
        const found = { ...asked, field, isCommon: text.length < MIN_DISTINCTIVE_LENGTH };
        add(fields, hashOf(JSON.stringify(text)), found);
        if (typeof json === 'number') add(fields, hashOf(text), found);
    } else if (typeof json === 'object' && json !== null && level < MAX_LEVELS) {
        // The items of a list get the name of the list.
        if (Array.isArray(json)) for (const item of json.slice(0, MAX_ITEMS)) addAnswerFields(fields, item, asked, field, level + 1);
        // So do the entries of a map, whose keys are values.
        else
            for (const [key, value] of Object.entries(json))
                addAnswerFields(fields, value, asked, key === value || isValueAsKey(key) ? field : key, level + 1);
    }
}

function add(fields: AnswerFields, hash: number, found: AnswerField): void {
    const known = fields.get(hash);
    if (known === undefined) {
        if (fields.size < MAX_VALUES) fields.set(hash, [found]);
    } else if (
        known.length < MAX_FIELDS &&
        !known.some(
            ({ from, operation, field }) => field === found.field && from.pathname === found.from.pathname && operation === found.operation,
        )
    )
        known.push(found);
}
