import { type Placed, placeFaults } from '../../fetch/param-place.ts';
import { checkBySchema } from '../../json/schema/interpret.ts';
import { TooMuchWork, withinWork } from '../../json/schema/patterns.ts';
import type { BodyFormat, Json, JsonSchema } from '../../types.ts';
import type { Budget } from './budget.ts';
import type { Path, Report } from './report.ts';

/** The schema that a default or an example must match. */
export interface Slot extends Placed {
    bodyFormat: BodyFormat;
    /** A schema that was found sound, or `undefined`: without one a plain value, in the body any. */
    schema: JsonSchema | undefined;
    /** The param's schema is not sound, so nothing can be held against it. */
    isSchemaBroken: boolean;
}

/** Reports what keeps `value` from being sent as this param: the place it goes to first, then its schema. */
export function checkValue(value: Json, slot: Slot, at: Path, report: Report, budget: Budget): void {
    // Of a param whose schema is broken nobody knows whether it takes lists.
    const faults = placeFaults(slot.isSchemaBroken ? { ...slot, schema: true } : slot, slot.bodyFormat, value);
    for (const { says } of faults) report.add(at, 'INVALID_VALUE', `A value of this param ${says}.`);
    if (faults.length === 0 && !fitsSchema(value, slot, budget))
        report.add(at, 'INVALID_VALUE', 'This value does not fit the schema of its param.');
}

/** Whether `value` fits the schema of its param, as far as that has a sound one. */
export function fitsSchema(value: Json, { schema, isSchemaBroken }: Slot, budget: Budget): boolean {
    return schema === undefined || isSchemaBroken || fits(schema, value, budget);
}

/** Values that take too much work here are checked when the endpoint is called. */
function fits(schema: JsonSchema, value: Json, budget: Budget): boolean {
    try {
        return withinWork(budget.work, () => checkBySchema(schema, value));
    } catch (error) {
        if (error instanceof TooMuchWork) return true;
        throw error;
    }
}
