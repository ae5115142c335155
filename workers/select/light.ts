import type { Json, JsonSchema, Select } from '../../shared/domain/types.ts';
import { isBodyless } from '../upstream/bodyless.ts';
import type { RawPage, ResponseRules } from './read-page.ts';

/** A crossing to another process and back costs 0.2 to 0.4 ms of CPU; reading a body of this size with light rules costs less. */
const LIGHT_BODY = 16 * 1024;
const MAX_SCHEMAS = 64;
const MAX_FIELDS = 64;
/** Bytes of a page times fields: each field may take the whole page, or stand in each thing that is in it. 5 ms at the worst. */
const LIGHT_WORK = 128 * 1024;

/**
 * Whether a page may be read where it stands: small, no HTML, and rules whose cost is bounded by the size of the page and their own
 * (a few milliseconds at worst), whatever the site and the contributor wrote. Everything else goes to another process.
 */
export function isLight(page: RawPage, rules: ResponseRules): boolean {
    if (page.type === 'html' && !isBodyless(page)) return false;
    if (page.body.length > LIGHT_BODY) return false;
    let verdict = known.get(rules);
    if (verdict === undefined) {
        verdict = isLightSchema(rules.schema) && isLightSelect(rules.select);
        known.set(rules, verdict);
    }
    return verdict && page.body.length * fieldsOf(rules.select) <= LIGHT_WORK;
}

/** The rules of a version are one object for as long as the version is cached. */
const known = new WeakMap<ResponseRules, boolean>();

/** Keywords that look at a value once, and at nothing beside it: no combinators, patterns, references or comparisons of items. */
const LIGHT_KEYWORDS = new Set([
    ...['type', 'properties', 'required', 'items', 'additionalProperties', 'enum', 'const', 'title', 'description', 'default', 'examples'],
    ...[
        'minimum',
        'maximum',
        'exclusiveMinimum',
        'exclusiveMaximum',
        'minLength',
        'maxLength',
        'minItems',
        'maxItems',
        '$schema',
        '$comment',
    ],
]);

/** Whether data of this size may be held against a schema where it stands. @param bytes of the bodies that it came from */
export function isLightToJudge(schema: JsonSchema | undefined, bytes: number): boolean {
    return bytes <= LIGHT_BODY && isLightSchema(schema);
}

/** Whether an expression costs no more than the page that it is run over. */
export function isLightExpression(expression: string | undefined): boolean {
    return expression === undefined || LIGHT_EXPRESSION.test(expression);
}

function isLightSchema(schema: JsonSchema | undefined): boolean {
    const waiting: (Json | undefined)[] = [schema];
    for (let seen = 0; waiting.length > 0; ) {
        const one = waiting.pop();
        if (typeof one !== 'object' || one === null) continue;
        if (Array.isArray(one) || ++seen > MAX_SCHEMAS) return false;
        for (const [keyword, value] of Object.entries(one)) {
            if (!LIGHT_KEYWORDS.has(keyword)) return false;
            if (keyword === 'enum' && !(Array.isArray(value) && value.length <= MAX_FIELDS && value.every(isScalar))) return false;
            if (keyword === 'const' && !isScalar(value)) return false;
            if (keyword === 'items' || keyword === 'additionalProperties') waiting.push(value);
            if (keyword === 'properties' && typeof value === 'object') waiting.push(...Object.values(value ?? {}));
        }
    }
    return true;
}

function isScalar(value: Json): boolean {
    return typeof value !== 'object' || value === null;
}

/** `a.b[].c` and `a.b[].{x: c, y: d.e}`: no pipes, functions or filters, and no way to double what is selected. */
const PATH = String.raw`(?:[A-Za-z_]\w*|\[(?:\*|-?\d{1,6})?\])(?:\.[A-Za-z_]\w*|\[(?:\*|-?\d{1,6})?\])*`;
const PAIR = String.raw`\s*[A-Za-z_]\w*\s*:\s*${PATH}\s*`;
const LIGHT_EXPRESSION = new RegExp(String.raw`^${PATH}(?:\.\{${PAIR}(?:,${PAIR})*\})?$`);

/** Whether paths and fields are all that is selected, and few of them. */
export function isLightSelect(select: Select | undefined): boolean {
    if (select === undefined) return true;
    const expressions = typeof select === 'string' ? [select] : Object.values(select);
    return fieldsOf(select) <= MAX_FIELDS && expressions.every((one) => typeof one === 'string' && LIGHT_EXPRESSION.test(one));
}

function fieldsOf(select: Select | undefined): number {
    if (select === undefined) return 1;
    if (typeof select === 'string') return select.split(':').length;
    return Object.values(select).reduce<number>((sum, one) => sum + String(one).split(':').length, 0);
}

/** Whether what a contributor wrote lets the cost of a page, of any size, grow with the page alone. */
export function isLightWork({ schema, select }: ResponseRules): boolean {
    return isLightSchema(schema) && isLightSelect(select);
}
