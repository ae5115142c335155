import { valueIn } from '../json/value-in.ts';
import type { Json, JsonObject, ParamStyle, Values } from '../types.ts';
import { styledPairs } from './styled-pairs.ts';

/** The param of a placeholder in a body template. A placeholder is always a whole string: `"{page}"` → `page`. */
export function placeholderIn(text: string): string | undefined {
    return /^\{([!-z|~]{1,64})\}$/.exec(text)?.[1];
}

/**
 * Fills a body template (docs/api.md, "Schema packages"). Each string that is exactly `"{name}"` of a body param becomes the typed value of
 * that param. `"{prepare.name}"` becomes the extracted value. If a param is absent, its key or its list item is removed. Inserted values
 * are not scanned, so a value that looks like a placeholder stays text. `undefined`: nothing remains of the template.
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

/** The body of an endpoint without a template: all body params that are present, as one flat object in the order of the package. */
export function flatBody(bodyParams: ReadonlySet<string>, values: Values): JsonObject {
    return fromPresent([...bodyParams].map((name) => [name, valueIn(values, name)]));
}

/** Encodes fields as `application/x-www-form-urlencoded`. Null is left out; a list repeats its name unless it has another style. */
export function encodeForm(fields: Json, styles: ReadonlyMap<string, ParamStyle> = NO_STYLES): string {
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return '';
    return Object.entries(fields)
        .flatMap(([name, value]) => {
            const style = styles.get(name);
            if (style !== undefined) return styledPairs(name, value, style, formText);
            return styledPairs(name, itemsOf(value), 'repeat', formText);
        })
        .join('&');
}

/** The items that a field sends. A list in the template may contain a list of the caller; null is left out. */
export function itemsOf(value: Json): Json[] {
    return [value].flat(2).filter((item) => item !== null);
}

const NO_STYLES: ReadonlyMap<string, ParamStyle> = new Map();

function formText(item: Json): string {
    return new URLSearchParams([['', typeof item === 'string' ? item : JSON.stringify(item)]]).toString().slice(1);
}

/** Defines own properties only. `Object.fromEntries` defines a property `__proto__`; an assignment would set the prototype. */
function fromPresent(entries: readonly [string, Json | undefined][]): JsonObject {
    return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
