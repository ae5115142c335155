import { valueIn } from '../json/value-in.ts';
import type { Json, JsonObject, ParamStyle, Values } from '../types.ts';
import { styledPairs } from './styled-pairs.ts';

/** The param of a placeholder in a body template, which is a whole string: `"{page}"` → `page`. */
export function placeholderIn(text: string): string | undefined {
    return /^\{([!-z|~]{1,64})\}$/.exec(text)?.[1];
}

/**
 * Fills a body template (docs/api.md, "Schema packages"): each string that is exactly `"{name}"` of a body param becomes that param's typed
 * value, and `"{prepare.name}"` what was extracted. An absent param goes together with its key or its place in a list. Values are inserted
 * as values and never looked into again, so that a value that spells a placeholder stays text. `undefined`: nothing is left of the template.
 */
export function fillTemplate(template: Json, bodyParams: ReadonlySet<string>, values: Values): Json | undefined {
    if (typeof template === 'string') {
        const name = placeholderIn(template);
        if (name !== undefined && bodyParams.has(name)) return valueIn(values, name);
        // Values of `prepare` are stored under the complete placeholder.
        return (name?.startsWith('prepare.') === true ? valueIn(values, template) : undefined) ?? template;
    }
    if (Array.isArray(template)) {
        return template.map((item) => fillTemplate(item, bodyParams, values)).filter((item) => item !== undefined);
    }
    if (typeof template !== 'object' || template === null) return template;
    return fromPresent(Object.entries(template).map(([key, item]) => [key, fillTemplate(item, bodyParams, values)]));
}

/** The body without a template: the body params that are present, as one flat object in the package's order. */
export function flatBody(bodyParams: ReadonlySet<string>, values: Values): JsonObject {
    return fromPresent([...bodyParams].map((name) => [name, valueIn(values, name)]));
}

/**
 * A form's fields in `application/x-www-form-urlencoded`: a space is `+`, null is left out, a list repeats its name unless the field has
 * another style.
 */
export function encodeForm(fields: Json, styles: ReadonlyMap<string, ParamStyle> = NO_STYLES): string {
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return '';
    return Object.entries(fields)
        .flatMap(([name, value]) => {
            const style = styles.get(name);
            if (style !== undefined) return styledPairs(name, value, style, formText);
            // A list of the template may have a list of the caller's in it.
            const items = [value].flat(2).filter((item) => item !== null);
            return styledPairs(name, items, 'repeat', formText);
        })
        .join('&');
}

const NO_STYLES: ReadonlyMap<string, ParamStyle> = new Map();

function formText(item: Json): string {
    return new URLSearchParams([['', typeof item === 'string' ? item : JSON.stringify(item)]]).toString().slice(1);
}

/** Own properties only: `Object.fromEntries` defines, where an assignment to `__proto__` would not. */
function fromPresent(entries: readonly [string, Json | undefined][]): JsonObject {
    return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
