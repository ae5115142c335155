import type { Detail, DetailCode } from '../../../refusals.ts';
import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import { isExact } from '../exact-numbers.ts';
import { escapePointer } from '../json-bounds.ts';
import { DYNAMIC, type Form, KEYWORDS, TYPES } from './keywords.ts';
import { compileWithin, type PatternBudget } from './patterns.ts';

/** All schemas of a document by JSON pointer, and the pointers of its `$anchor` names. */
export interface Places {
    schemas: Map<string, JsonSchema>;
    anchors: Map<string, string>;
}

interface Walk extends Places {
    problems: Detail[];
    /** References. They are checked when all places are known. */
    refs: { at: string; ref: string }[];
    patterns: PatternBudget;
    stopped: boolean;
}

/** Limits of this walk. The expanded schema has its own limits. */
const MAX_PLACES = 2000;
const MAX_LEVELS = 64;
export const MAX_CHOICES = 1000;
const MAX_PROBLEMS = 50;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Walks all schemas of a document without following references. Checks the form of each keyword, and patterns. */
export function walkSchema(schema: unknown, patterns: PatternBudget): Places & { problems: Detail[]; refs: Walk['refs'] } {
    const walk: Walk = { schemas: new Map(), anchors: new Map(), problems: [], refs: [], patterns, stopped: false };
    visit(walk, schema, '', 0);
    return walk;
}

export function isObject(value: unknown): value is JsonObject {
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value);
}

/** The value, if it is an object; otherwise an empty one. */
export function objectOf(value: unknown): JsonObject {
    return isObject(value) ? value : {};
}

/** The value, if it is a list; otherwise an empty one. */
export function listOf(value: unknown): Json[] {
    return Array.isArray(value) ? value : [];
}

/** The types that a schema names; empty if it names none. */
export function typesOf({ type }: JsonObject): Json[] {
    return typeof type === 'string' ? [type] : listOf(type);
}

function add(walk: Walk, path: string, code: DetailCode, message: string): void {
    if (walk.problems.length < MAX_PROBLEMS) walk.problems.push({ path, code, message });
}

function visit(walk: Walk, schema: unknown, at: string, level: number): void {
    if (walk.stopped) return;
    if (typeof schema !== 'boolean' && !isObject(schema)) {
        add(walk, at, 'INVALID_TYPE', 'A JSON Schema must be an object, true or false.');
        return;
    }
    if (walk.schemas.size >= MAX_PLACES || level > MAX_LEVELS) {
        add(
            walk,
            at,
            'TOO_COMPLEX',
            `The JSON Schema is too large: it may have at most ${MAX_PLACES} schemas, nested at most ${MAX_LEVELS} levels deep.`,
        );
        walk.stopped = true;
        return;
    }
    walk.schemas.set(at, schema);
    if (typeof schema === 'boolean') return;
    for (const [keyword, value] of Object.entries(schema)) {
        const form = KEYWORDS.get(keyword);
        const place = `${at}/${escapePointer(keyword)}`;
        if (DYNAMIC.has(keyword)) add(walk, place, 'TOO_COMPLEX', `${keyword} is not accepted: a schema may not be recursive.`);
        else if (keyword === '$id' && at !== '') add(walk, place, 'INVALID_VALUE', 'Only the outermost schema may have an $id.');
        else if (form !== undefined) FORMS[form](walk, value, place, keyword, level);
    }
}

const FORMS: Record<Form, (walk: Walk, value: unknown, at: string, keyword: string, level: number) => void> = {
    schema: (walk, value, at, keyword, level) => {
        if (keyword === 'items' && Array.isArray(value))
            add(walk, at, 'INVALID_TYPE', 'In JSON Schema 2020-12, use prefixItems for a list of schemas.');
        else visit(walk, value, at, level + 1);
    },
    schemas: (walk, value, at, keyword, level) => {
        if (!Array.isArray(value) || value.length === 0) add(walk, at, 'INVALID_TYPE', `${keyword} must be a list of at least one schema.`);
        else for (const [index, item] of value.entries()) visit(walk, item, `${at}/${index}`, level + 1);
    },
    'schema map': (walk, value, at, keyword, level) => {
        for (const [key, item] of entriesOf(walk, value, at, keyword)) visit(walk, item, `${at}/${escapePointer(key)}`, level + 1);
    },
    'pattern map': (walk, value, at, keyword, level) => {
        for (const [key, item] of entriesOf(walk, value, at, keyword)) {
            const place = `${at}/${escapePointer(key)}`;
            checkPattern(walk, key, place);
            visit(walk, item, place, level + 1);
        }
    },
    text: (walk, value, at, keyword) => {
        if (typeof value !== 'string') add(walk, at, 'INVALID_TYPE', `${keyword} must be a string.`);
    },
    texts: (walk, value, at, keyword) => {
        if (!areTexts(value)) add(walk, at, 'INVALID_TYPE', `${keyword} must be a list of strings.`);
    },
    'texts map': (walk, value, at, keyword) => {
        for (const [key, item] of entriesOf(walk, value, at, keyword)) {
            if (!areTexts(item)) add(walk, `${at}/${escapePointer(key)}`, 'INVALID_TYPE', `${keyword} must map names to lists of strings.`);
        }
    },
    types: (walk, value, at) => {
        const types = typeof value === 'string' ? [value] : value;
        const isKnown =
            areTexts(types) && types.length > 0 && new Set(types).size === types.length && types.every((type) => TYPES.has(type));
        if (!isKnown) add(walk, at, 'INVALID_VALUE', `type must be one or several of ${[...TYPES].join(', ')}, without repeats.`);
    },
    choices: (walk, value, at) => {
        if (!Array.isArray(value) || value.length === 0) add(walk, at, 'INVALID_TYPE', 'enum must be a list of at least one value.');
        else if (value.length > MAX_CHOICES) add(walk, at, 'TOO_COMPLEX', `enum may have at most ${MAX_CHOICES} values.`);
    },
    anything: () => {},
    number: (walk, value, at, keyword) => {
        if (!isNumber(value)) add(walk, at, 'INVALID_TYPE', `${keyword} must be a number.`);
    },
    'positive number': (walk, value, at, keyword) => {
        if (!isNumber(value) || value <= 0) add(walk, at, 'INVALID_VALUE', `${keyword} must be a number above 0.`);
    },
    count: (walk, value, at, keyword) => {
        if (!Number.isSafeInteger(value) || (value as number) < 0)
            add(walk, at, 'INVALID_VALUE', `${keyword} must be a whole number of at least 0.`);
    },
    boolean: (walk, value, at, keyword) => {
        if (typeof value !== 'boolean') add(walk, at, 'INVALID_TYPE', `${keyword} must be true or false.`);
    },
    pattern: (walk, value, at) => {
        if (typeof value === 'string') checkPattern(walk, value, at);
        else add(walk, at, 'INVALID_TYPE', 'pattern must be a string.');
    },
    reference: (walk, value, at) => {
        if (typeof value !== 'string') add(walk, at, 'INVALID_TYPE', '$ref must be a string.');
        else if (!value.startsWith('#')) add(walk, at, 'INVALID_VALUE', 'A $ref must point into the same schema: begin it with #.');
        else walk.refs.push({ at, ref: value });
    },
    anchor: (walk, value, at) => {
        if (typeof value !== 'string' || !/^[A-Za-z_][A-Za-z0-9._-]{0,63}$/.test(value))
            add(walk, at, 'INVALID_VALUE', '$anchor must begin with a letter or _, followed by up to 63 letters, digits, ., _ or -.');
        else if (walk.anchors.has(value)) add(walk, at, 'DUPLICATE_NAME', 'Another schema has the same $anchor.');
        else walk.anchors.set(value, at.slice(0, -'/$anchor'.length));
    },
    dialect: (walk, value, at) => {
        if (value !== DIALECT && value !== `${DIALECT}#`)
            add(walk, at, 'INVALID_VALUE', `$schema must be JSON Schema 2020-12: ${DIALECT}.`);
    },
};

function entriesOf(walk: Walk, value: unknown, at: string, keyword: string): [string, unknown][] {
    if (isObject(value)) return Object.entries(value);
    add(walk, at, 'INVALID_TYPE', `${keyword} must be an object.`);
    return [];
}

function areTexts(value: unknown): value is string[] {
    return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isNumber(value: unknown): value is number {
    return typeof value === 'number' && Number.isFinite(value);
}

function checkPattern(walk: Walk, source: string, at: string): void {
    const made = compileWithin(source, walk.patterns);
    if (!made.ok) add(walk, at, made.tooComplex ? 'TOO_COMPLEX' : 'INVALID_VALUE', `The pattern ${made.fault}.`);
}
