import { type JsonObject, SELECTED_TYPES } from '../types.ts';
import { MAX_EXPRESSION_LENGTH, MAX_EXTRACTS, MAX_OUTPUTS } from './rules/bounds.ts';
import { readPackage } from './rules/structure.ts';

/** The path at which a server publishes the schema of the format. Drafts refer to it. */
export const PACKAGE_SCHEMA_PATH = '/schemas/routebook-1.json';

/**
 * The format routebook/1 as JSON Schema (draft 7, which editors support best), generated from the tables with which the rules read
 * packages. Every valid package matches it, provided that its schemas are valid by JSON Schema, which forbids a name twice in `required`.
 * The rules also check what a JSON Schema cannot express, such as hosts and placeholders.
 */
export function packageSchema(publicUrl: string): JsonObject {
    return {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: `${publicUrl}${PACKAGE_SCHEMA_PATH}`,
        title: 'Routebook package',
        description: 'The callable endpoints of a website, in the format routebook/1.',
        ...(withParts(readPackage.schema) as JsonObject),
        definitions: DEFINITIONS,
    };
}

/** A copy of a schema in which the fields of `PARTS` are described as far as an editor can complete them. */
function withParts(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(withParts);
    if (typeof schema !== 'object' || schema === null) return schema;
    return Object.fromEntries(
        Object.entries(schema).map(([key, value]) => [key, Object.hasOwn(PARTS, key) ? { ...value, ...PARTS[key] } : withParts(value)]),
    );
}

const ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });

/** The fields that the tables read as any JSON, because `select.ts` and `prepare.ts` have their rules. */
const PARTS: Readonly<Record<string, JsonObject>> = {
    // Editors contain draft 7. A valid schema of 2020-12 is one of draft 7, too.
    schema: { allOf: [{ $ref: 'http://json-schema.org/draft-07/schema#' }] },
    select: { anyOf: [ref('expression'), ref('outputs')] },
    extract: { maxProperties: MAX_EXTRACTS, additionalProperties: { anyOf: [ref('cookie'), ref('entry')] } },
};

const expression: JsonObject = { type: 'string', minLength: 1, maxLength: MAX_EXPRESSION_LENGTH };
const field = (description: string, schema: JsonObject = expression): JsonObject => ({ ...schema, description });

const DEFINITIONS: JsonObject = {
    expression,
    outputs: {
        type: 'object',
        minProperties: 1,
        maxProperties: MAX_OUTPUTS,
        additionalProperties: { anyOf: [ref('entry'), { type: 'array', items: ref('entry'), minItems: 1, maxItems: 1 }] },
    },
    entry: {
        anyOf: [
            ref('expression'),
            {
                type: 'object',
                properties: {
                    selector: field('CSS selector of the element.'),
                    value: field('Attribute to read, or outputs inside the element; its text by default.', {
                        anyOf: [ref('expression'), ref('outputs')],
                    }),
                    type: field('What the text is converted to.', { enum: [...SELECTED_TYPES] }),
                    decimal: field('The sign before the fraction of a number; "." by default.', { enum: ['.', ','] }),
                    json: field('JMESPath into JSON that the element contains or a script assigns.'),
                    of: field('The @type of the block of JSON.'),
                    assign: field('Variable to which a script assigns JSON, such as window.__STATE__.'),
                    microdata: field('Type of an item of microdata, such as Product.'),
                    path: field('JMESPath into that item.'),
                    table: field('CSS selector of a table; the first row names the columns.'),
                },
                additionalProperties: false,
            },
        ],
    },
    cookie: { type: 'object', properties: { cookie: field('Name of a cookie that the page sets.') }, additionalProperties: false },
};
