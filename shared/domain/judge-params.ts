import type { ValidateValue } from './bind-params.ts';
import { openPatternWork, TooMuchWork, withinWork } from './json-schema/patterns.ts';
import { judgeSimply } from './json-schema/simple.ts';
import { compileJsonSchema } from './json-schema.ts';
import type { Json, JsonSchema } from './types.ts';

/** Values that do not fit are told exactly why so many times; that takes the compiled schema, at 0.4 ms and more. */
const MAX_EXPLAINED = 20;

/**
 * Judges the params of one call where everybody else is answered too: simple schemas without compiling them, and patterns within
 * one share of work. What else has to be compiled is bounded at publishing (`MAX_COMPILED` of the rules of params).
 */
export function openParamJudge(): ValidateValue {
    const work = openPatternWork();
    let explained = 0;
    const judgeQuickly = (schema: JsonSchema, value: Json) => {
        try {
            return withinWork(work, () => judgeSimply(schema, value));
        } catch (error) {
            if (error instanceof TooMuchWork) return undefined;
            throw error;
        }
    };
    return (schema, value) => {
        const fits = judgeQuickly(schema, value);
        if (fits === true) return { ok: true };
        if (fits === false && ++explained > MAX_EXPLAINED) {
            return { ok: false, errors: [{ path: '', message: 'does not fit its schema', keyword: '' }] };
        }
        return compileJsonSchema(schema)(value, work);
    };
}
