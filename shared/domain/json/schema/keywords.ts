/** The keywords that a package may use, and the form of each value. Others, also of other validators, are annotations. */
export type Form =
    | 'schema'
    | 'schemas'
    | 'schema map'
    | 'pattern map'
    | 'text'
    | 'texts'
    | 'texts map'
    | 'types'
    | 'choices'
    | 'anything'
    | 'number'
    | 'positive number'
    | 'count'
    | 'boolean'
    | 'pattern'
    | 'reference'
    | 'anchor'
    | 'dialect';

export const KEYWORDS: ReadonlyMap<string, Form> = new Map<string, Form>([
    ['$schema', 'dialect'],
    ['$id', 'text'],
    ['$ref', 'reference'],
    ['$anchor', 'anchor'],
    ['$defs', 'schema map'],
    ['definitions', 'schema map'],
    ['allOf', 'schemas'],
    ['anyOf', 'schemas'],
    ['oneOf', 'schemas'],
    ['not', 'schema'],
    ['if', 'schema'],
    ['then', 'schema'],
    ['else', 'schema'],
    ['prefixItems', 'schemas'],
    ['items', 'schema'],
    ['contains', 'schema'],
    ['minContains', 'count'],
    ['maxContains', 'count'],
    ['minItems', 'count'],
    ['maxItems', 'count'],
    ['uniqueItems', 'boolean'],
    ['unevaluatedItems', 'schema'],
    ['properties', 'schema map'],
    ['patternProperties', 'pattern map'],
    ['additionalProperties', 'schema'],
    ['unevaluatedProperties', 'schema'],
    ['propertyNames', 'schema'],
    ['dependentSchemas', 'schema map'],
    ['dependentRequired', 'texts map'],
    ['required', 'texts'],
    ['minProperties', 'count'],
    ['maxProperties', 'count'],
    ['type', 'types'],
    ['enum', 'choices'],
    ['const', 'anything'],
    ['minimum', 'number'],
    ['maximum', 'number'],
    ['exclusiveMinimum', 'number'],
    ['exclusiveMaximum', 'number'],
    ['multipleOf', 'positive number'],
    ['minLength', 'count'],
    ['maxLength', 'count'],
    ['pattern', 'pattern'],
    ['format', 'text'],
    ['title', 'text'],
    ['description', 'text'],
]);

/** Keywords that name or locate a schema. They do not affect validation once every reference is replaced. */
export const PLACING: ReadonlySet<string> = new Set(['$schema', '$id', '$ref', '$anchor', '$defs', 'definitions', 'title', 'description']);

/** Keywords by which a schema can refer to itself at run time. */
export const DYNAMIC: ReadonlySet<string> = new Set(['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor']);

export const TYPES: ReadonlySet<string> = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);
export const SCALAR_TYPES: ReadonlySet<string> = new Set(['null', 'boolean', 'number', 'integer', 'string']);
