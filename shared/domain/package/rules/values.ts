import { type Placed, placeFaults } from '../../fetch/param-place.ts';
import { checkBySchema, explainBySchema } from '../../json/schema/interpret.ts';
import { TooMuchWork, withinWork } from '../../json/schema/patterns.ts';
import type { BodyFormat, Json, JsonSchema } from '../../types.ts';
import type { Budget } from './budget.ts';
import type { Path, Report } from './report.ts';

/** The schema that a default or an example must match. */
export interface Slot extends Placed {
    bodyFormat: BodyFormat;
    /** The valid schema of the param; `undefined`: it has none, and takes a plain value or, in the body, any value. */
    schema: JsonSchema | undefined;
    /** Whether the schema of the param is invalid. Then no value can be checked against it. */
    isSchemaBroken: boolean;
}

/** Reports why `value` cannot be sent as this param: first by the place it goes to, then by its schema. */
export function checkValue(value: Json, slot: Slot, at: Path, report: Report, budget: Budget): void {
    // If the schema is invalid, it is unknown whether the param accepts lists.
    const faults = placeFaults(slot.isSchemaBroken ? { ...slot, schema: true } : slot, slot.bodyFormat, value);
    for (const { says } of faults) report.refuse(at, `A value of this param ${says}.`);
    const fault = faults.length > 0 ? undefined : schemaFault(value, slot, budget);
    if (fault !== undefined) report.refuse(at, `This value does not fit the schema of its param: it ${fault}.`);
}

/** Whether `value` matches the schema of its param; true if the param has no valid schema. */
export function fitsSchema(value: Json, slot: Slot, budget: Budget): boolean {
    return schemaFault(value, slot, budget) === undefined;
}

/** What `value` has to be by its schema. What takes too much work here is checked when the endpoint is called. */
function schemaFault(value: Json, { schema, isSchemaBroken }: Slot, budget: Budget): string | undefined {
    if (schema === undefined || isSchemaBroken) return undefined;
    if (within(budget, () => checkBySchema(schema, value)) !== false) return undefined;
    return within(budget, () => explainBySchema(schema, value)[0]?.message) ?? 'is of another form';
}

/** The result of some work; undefined if it is more than the package has left. */
function within<Result>(budget: Budget, work: () => Result): Result | undefined {
    try {
        return withinWork(budget.work, work);
    } catch (error) {
        if (error instanceof TooMuchWork) return undefined;
        throw error;
    }
}
