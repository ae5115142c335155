import { checkBySchema, explainBySchema } from '../json/schema/interpret.ts';
import { createPatternWork, TooMuchWork, withinWork } from '../json/schema/patterns.ts';
import type { Json, JsonSchema } from '../types.ts';
import type { ValidateValue } from './bind-params.ts';

/** Maximum number of values whose exact problem is reported. */
const MAX_EXPLAINED = 20;

/** Number of steps that block the event loop for at most 5 ms. */
export const STEPS_PER_TURN = 100_000;

/**
 * Validates the params of one call against their schemas without compiling the schemas, within one step limit.
 * @param steps maximum number of steps for all params together, if lower than the limit of a call
 * @throws TooMuchWork if `steps` is given and exceeded. Without `steps`, a value that exceeds the limit counts as invalid.
 */
export function createParamValidator({ steps }: { steps?: number } = {}): ValidateValue {
    const work = steps === undefined ? createPatternWork() : { left: steps };
    let explained = 0;
    return (schema, value) => {
        try {
            return withinWork(work, () => {
                if (checkBySchema(schema, value)) return { ok: true };
                if (++explained > MAX_EXPLAINED) return unfit('does not fit its schema');
                return { ok: false, errors: explainBySchema(schema, value) };
            });
        } catch (error) {
            if (!(error instanceof TooMuchWork) || steps !== undefined) throw error;
            return unfit('takes too much work to validate against its schema');
        }
    };
}

/** Whether a value is valid, within the step limit of one turn. A value that exceeds the limit counts as invalid. */
export function fitsOnLoop(schema: JsonSchema, value: Json): boolean {
    try {
        return withinWork({ left: STEPS_PER_TURN }, () => checkBySchema(schema, value));
    } catch (error) {
        if (error instanceof TooMuchWork) return false;
        throw error;
    }
}

function unfit(message: string): { ok: false; errors: { path: string; message: string; keyword: string }[] } {
    return { ok: false, errors: [{ path: '', message, keyword: '' }] };
}
