import { type Expression, parseExpression } from '../../shared/domain/jmespath/parse.ts';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { VALUE_BYTES } from '../../shared/domain/monitors/bounds.ts';
import { compareValues, type IdsOf, isChange } from '../../shared/domain/monitors/diff.ts';
import type { When } from '../../shared/domain/monitors/states.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { InvalidResponse } from './invalid-response.ts';
import { searchJson } from './json.ts';
import { fitsInto } from './measure.ts';
import { keyOf } from './unique-items.ts';

/** The parts of a result that a monitor watches. */
export interface WatchOrder {
    data: string;
    /** The value of the previous run, as JSON text; absent if this run is the base. */
    before?: string | undefined;
    watch: string | null;
    identity: string | null;
    when: When;
}

/** The watched value as JSON text, and its difference from the previous value. */
export interface Watched {
    text: string;
    /** JSON text; absent if nothing changed. */
    diff?: string;
    isTruncated: boolean;
    /** Whether people are notified, by `when`. */
    isTold: boolean;
}

/** @throws InvalidResponse if an expression fails, and for a value of more than 1 MiB */
export function readWatched({ data, before, watch, identity, when }: WatchOrder): Watched {
    const result = parseExact(data);
    const after = watch === null ? result : search(result, watch, '/watch');
    if (!fitsInto(after, VALUE_BYTES)) {
        throw new InvalidResponse('The watched value has more than 1 MiB.', [], 'UPSTREAM_TOO_LARGE');
    }
    const text = JSON.stringify(after);
    if (before === undefined) return { text, isTruncated: false, isTold: false };
    const earlier = parseExact(before);
    const compared = compareValues(earlier, after, idsBy(identity));
    const { diff, isTruncated } = compared;
    return {
        text,
        ...(isChange(compared) ? { diff: JSON.stringify(diff) } : {}),
        isTruncated,
        isTold: isWanted(when, isChange(compared), { before: earlier, after, diff: diff as unknown as Json }),
    };
}

function isWanted(when: When, isOther: boolean, seen: JsonObject): boolean {
    if (when === 'changed') return isOther;
    if (when === 'always') return true;
    const verdict = search(seen, when.expression, '/when/expression');
    if (typeof verdict === 'boolean') return verdict;
    // A price that is missing is not lower than the one before.
    if (verdict === null && isCondition(parseExpression(when.expression))) return false;
    throw new InvalidResponse('The expression at /when/expression yields neither true nor false.', [], 'UPSTREAM_INVALID_RESPONSE');
}

/** Whether an expression asks a question. If its values cannot be compared, JMESPath yields null. */
function isCondition(expression: Expression): boolean {
    if (expression.type === 'and' || expression.type === 'or') return isCondition(expression.first) && isCondition(expression.second);
    return expression.type === 'compare' || expression.type === 'not';
}

function idsBy(identity: string | null): IdsOf | undefined {
    if (identity === null) return undefined;
    // One expression for all items, as in unique-items.ts.
    return (items) => (search([...items], `map(&${identity}, @)`, '/identity') as Json[]).map((id) => (id === null ? null : keyOf(id)));
}

function search(value: Json, expression: string, path: string): Json {
    try {
        return searchJson(value, expression, path);
    } catch (error) {
        if (!(error instanceof InvalidResponse)) throw error;
        throw new InvalidResponse(`The expression at ${path} does not fit: ${error.details[0]?.message ?? 'it failed'}`, error.details);
    }
}
