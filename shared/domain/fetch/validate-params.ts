import { checkBySchema, explainBySchema } from '../json/schema/interpret.ts';
import { createPatternWork, TooMuchWork, withinWork } from '../json/schema/patterns.ts';
import type { Json, JsonSchema } from '../types.ts';
import type { ValidateValue } from './bind-params.ts';

/** The most values whose exact problem is reported. */
const MAX_EXPLAINED = 20;

/** The steps that take an event loop 5 ms at most. */
export const WORK_OF_A_TURN = 100_000;

/**
 * Checks the params of one call by their schemas, without compiling any, and within one share of work.
 * @param steps what all params together may cost, where that is less than a call's whole share
 * @throws TooMuchWork with `steps`; without, what takes more than the share does not fit
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
            return unfit('takes too much work to hold against its schema');
        }
    };
}

/** Whether a value is valid, within the step limit of one turn; above it, the value counts as invalid. */
export function fitsOnLoop(schema: JsonSchema, value: Json): boolean {
    try {
        return withinWork({ left: WORK_OF_A_TURN }, () => checkBySchema(schema, value));
    } catch (error) {
        if (error instanceof TooMuchWork) return false;
        throw error;
    }
}

function unfit(message: string): { ok: false; errors: { path: string; message: string; keyword: string }[] } {
    return { ok: false, errors: [{ path: '', message, keyword: '' }] };
}
