import { getOrMake } from '../../shared/domain/get-or-make.ts';
import type { Json, JsonSchema, ResponseType, Select } from '../../shared/domain/types.ts';
import { isEmptyAnswer } from '../upstream/answers.ts';
import { MAX_OUTPUT } from './measure.ts';
import type { RawPage, ResponseRules } from './parse-page.ts';
import { isPacked } from './unpack.ts';

/**
 * The types that are parsed in time proportional to their size. HTML, XML and feeds have their own processes. CSV is not among them: each
 * row of the result names all columns, so a small body may become a long text.
 */
const INLINE_TYPES: ReadonlySet<ResponseType> = new Set(['json', 'ndjson', 'text', 'binary']);

export function costsItsSize(page: RawPage): boolean {
    return INLINE_TYPES.has(page.type) || isEmptyAnswer(page);
}

/** Largest body to read inline. A round trip to a process costs 0.2 to 0.4 ms of CPU; reading such a body inline costs less. */
const INLINE_BODY = 16 * 1024;
const MAX_SCHEMAS = 64;
const MAX_FIELDS = 64;
/** Limit of page bytes times fields. Each field may select the whole page, or occur in each of its items. 5 ms in the worst case. */
const INLINE_WORK = 128 * 1024;

/**
 * Whether a page may be read inline, on the worker's event loop: a small page, no HTML, and rules whose cost is bounded (a few
 * milliseconds at worst) for any site and contributor. Other pages go to another process.
 */
export function canReadInline(page: RawPage, rules: ResponseRules): boolean {
    if (!costsItsSize(page)) return false;
    if (page.body.length > INLINE_BODY || isPacked(page.body)) return false;
    const isBounded = getOrMake(known, rules, () => isInlineSchema(rules.schema) && isInlineSelect(rules.select));
    return isBounded && page.body.length * countFields(rules.select) <= INLINE_WORK;
}

/** Decisions by rules. The rules of a version are the same object while the version is cached. */
const known = new WeakMap<ResponseRules, boolean>();

/** Keywords that check each value once: no combinators, patterns, references or comparisons of items. */
const INLINE_KEYWORDS = new Set([
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

/** Whether data may be validated inline. @param bytes size of its bodies */
export function canCheckInline(schema: JsonSchema | undefined, bytes: number): boolean {
    return bytes <= INLINE_BODY && isInlineSchema(schema);
}

/** Whether the cost of an expression is bounded by the page's size. */
export function isInlineExpression(expression: string): boolean {
    return INLINE_EXPRESSION.test(expression);
}

function isInlineSchema(schema: JsonSchema | undefined): boolean {
    const waiting: (Json | undefined)[] = [schema];
    for (let seen = 0; waiting.length > 0; ) {
        const one = waiting.pop();
        if (typeof one !== 'object' || one === null) continue;
        if (Array.isArray(one) || ++seen > MAX_SCHEMAS) return false;
        for (const [keyword, value] of Object.entries(one)) {
            if (!INLINE_KEYWORDS.has(keyword)) return false;
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

/** `a.b[].c` and `a.b[].{x: c, y: d.e}`: no pipes, functions or filters, so nothing is selected twice. */
const PATH = String.raw`(?:[A-Za-z_]\w*|\[(?:\*|-?\d{1,6})?\])(?:\.[A-Za-z_]\w*|\[(?:\*|-?\d{1,6})?\])*`;
const PAIR = String.raw`\s*[A-Za-z_]\w*\s*:\s*${PATH}\s*`;
const INLINE_EXPRESSION = new RegExp(String.raw`^${PATH}(?:\.\{${PAIR}(?:,${PAIR})*\})?$`);

/** Whether a selection consists of a few paths and fields. */
function isInlineSelect(select: Select | undefined): boolean {
    if (select === undefined) return true;
    const expressions = typeof select === 'string' ? [select] : Object.values(select);
    return countFields(select) <= MAX_FIELDS && expressions.every((one) => typeof one === 'string' && INLINE_EXPRESSION.test(one));
}

function countFields(select: Select | undefined): number {
    if (select === undefined) return 1;
    if (typeof select === 'string') return select.split(':').length;
    return Object.values(select).reduce<number>((sum, one) => sum + String(one).split(':').length, 0);
}

/** Whether the rules' cost is bounded by the page's size, for pages of any size. */
export function hasInlineRules({ schema, select }: ResponseRules): boolean {
    return isInlineSchema(schema) && isInlineSelect(select);
}

/** Growth of a value when it is serialized again: `1e20` becomes 21 digits, a control character six letters. */
const GROWTH = 6;

/** Bytes of a missing field: quotes, colon, comma and `null`. */
const ABSENT_FIELD = 8;

/** Bytes of the shortest list item, with its comma. */
const MIN_LENGTH = 2;

/** The largest possible size of the data selected from a body, before it is read. @param bytes size of the body */
export function maxSelected(bytes: number, select: Select | undefined, type?: ResponseType): number {
    // Their results repeat names that the body contains once or not at all.
    if (type === 'csv' || type === 'feed') return MAX_OUTPUT;
    if (select === undefined) return Math.min(MAX_OUTPUT, GROWTH * bytes);
    // Functions, filters and pipes may select the same value many times.
    if (!isInlineSelect(select)) return MAX_OUTPUT;
    const text = typeof select === 'string' ? select : Object.entries(select).join();
    const fields = text.split(':').length + (typeof select === 'string' ? 0 : Object.keys(select).length);
    // Each field may select the whole page, and each item repeats all field names.
    return Math.min(MAX_OUTPUT, bytes * (GROWTH * fields + (text.length + ABSENT_FIELD * fields) / MIN_LENGTH));
}
