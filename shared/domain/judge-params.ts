import type { ValidateValue } from './bind-params.ts';
import { explainBySchema, judgeBySchema } from './json-schema/interpret.ts';
import { openPatternWork, TooMuchWork, withinWork } from './json-schema/patterns.ts';

/** Values that do not fit are told exactly why so many times. */
const MAX_EXPLAINED = 20;

/** Steps of judging that take the event loop of an API 5 ms at the worst. */
export const WORK_OF_A_TURN = 100_000;

/**
 * Judges the params of one call by their schemas, without compiling any, and within one share of work.
 * @param steps what all params together may cost, where that is less than a call's whole share
 * @throws TooMuchWork with `steps`; without, what takes more than the share does not fit
 */
export function openParamJudge({ steps }: { steps?: number } = {}): ValidateValue {
    const work = steps === undefined ? openPatternWork() : { left: steps };
    let explained = 0;
    return (schema, value) => {
        try {
            return withinWork(work, () => {
                if (judgeBySchema(schema, value)) return { ok: true };
                if (++explained > MAX_EXPLAINED) return unfit('does not fit its schema');
                return { ok: false, errors: explainBySchema(schema, value) };
            });
        } catch (error) {
            if (!(error instanceof TooMuchWork) || steps !== undefined) throw error;
            return unfit('takes too much work to hold against its schema');
        }
    };
}

function unfit(message: string): { ok: false; errors: { path: string; message: string; keyword: string }[] } {
    return { ok: false, errors: [{ path: '', message, keyword: '' }] };
}
