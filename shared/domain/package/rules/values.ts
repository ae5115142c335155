import { judgeBySchema } from '../../json/schema/interpret.ts';
import { TooMuchWork, withinWork } from '../../json/schema/patterns.ts';
import { isObject } from '../../json/schema/structure.ts';
import type { BodyFormat, Json, JsonSchema, ParamSource } from '../../types.ts';
import type { Budget } from './budget.ts';
import type { Path, Report } from './report.ts';

/** What a default or an example is held against. */
export interface Slot {
    source: ParamSource;
    bodyFormat: BodyFormat;
    /** A schema that was found sound, or `undefined`: without one a plain value, in the body any. */
    schema: JsonSchema | undefined;
    /** The param's schema is not sound, so nothing can be held against it. */
    isSchemaBroken: boolean;
}

/** Reports what keeps `value` from being sent as this param: the place it goes to first, then its schema. */
export function checkValue(value: Json, slot: Slot, at: Path, report: Report, budget: Budget): void {
    const fault = placeFault(value, slot);
    if (fault !== undefined) {
        report.add(at, 'INVALID_VALUE', fault);
        return;
    }
    if (!fitsSchema(value, slot, budget)) report.add(at, 'INVALID_VALUE', 'This value does not fit the schema of its param.');
}

/** Whether `value` fits the schema of its param, as far as that has a sound one. */
export function fitsSchema(value: Json, { schema, isSchemaBroken }: Slot, budget: Budget): boolean {
    return schema === undefined || isSchemaBroken || fits(schema, value, budget);
}

/** What takes too much work here is judged when the endpoint is called. */
function fits(schema: JsonSchema, value: Json, budget: Budget): boolean {
    try {
        return withinWork(budget.work, () => judgeBySchema(schema, value));
    } catch (error) {
        if (error instanceof TooMuchWork) return true;
        throw error;
    }
}

function placeFault(value: Json, slot: Slot): string | undefined {
    if (slot.source === 'path') {
        if (!isPlain(value)) return 'A value in the path is a text, a number or a boolean.';
        if (value === '' || value === '.' || value === '..')
            return 'A value in the path may not be empty, . or ..: it has to be one segment.';
        return undefined;
    }
    if (slot.source === 'body' && slot.bodyFormat === 'json') return undefined;
    if (isPlain(value)) return undefined;
    const place = slot.source === 'query' ? 'query' : 'form';
    if (!Array.isArray(value) || !value.every(isPlain)) return `A value in a ${place} is a text, a number, a boolean or a list of these.`;
    if (slot.schema === undefined && !slot.isSchemaBroken && slot.source === 'query')
        return 'A param without a schema takes a text, a number or a boolean here; a list needs a schema.';
    return undefined;
}

function isPlain(value: Json): boolean {
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Types of JSON that can never be sent from `source`, although a schema may name them. */
export function unsendableType(schema: unknown, source: ParamSource, bodyFormat: BodyFormat): string | undefined {
    if (!isObject(schema) || typeof schema['type'] !== 'string') return undefined;
    const { type } = schema;
    if (source === 'path') return ['object', 'array', 'null'].includes(type) ? type : undefined;
    if (source === 'body' && bodyFormat === 'json') return undefined;
    return ['object', 'null'].includes(type) ? type : undefined;
}
