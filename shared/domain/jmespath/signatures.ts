export type ArgumentType =
    | 'any'
    | 'array'
    | 'array of numbers'
    | 'array of strings'
    | 'boolean'
    | 'expression'
    | 'null'
    | 'number'
    | 'object'
    | 'string';

export interface Signature {
    takes: readonly (readonly ArgumentType[])[];
    /** Whether the last argument may be repeated. */
    isVariadic?: true;
}

const LIST: readonly ArgumentType[] = ['array of numbers', 'array of strings'];
const BY: readonly (readonly ArgumentType[])[] = [['array'], ['expression']];

/** The functions of JMESPath. */
export const SIGNATURES = {
    abs: { takes: [['number']] },
    avg: { takes: [['array of numbers']] },
    ceil: { takes: [['number']] },
    contains: { takes: [['array', 'string'], ['any']] },
    ends_with: { takes: [['string'], ['string']] },
    floor: { takes: [['number']] },
    join: { takes: [['string'], ['array of strings']] },
    keys: { takes: [['object']] },
    length: { takes: [['array', 'object', 'string']] },
    map: { takes: [['expression'], ['array']] },
    max: { takes: [LIST] },
    max_by: { takes: BY },
    merge: { takes: [['object']], isVariadic: true },
    min: { takes: [LIST] },
    min_by: { takes: BY },
    not_null: { takes: [['any']], isVariadic: true },
    reverse: { takes: [['array', 'string']] },
    sort: { takes: [LIST] },
    sort_by: { takes: BY },
    starts_with: { takes: [['string'], ['string']] },
    sum: { takes: [['array of numbers']] },
    to_array: { takes: [['any']] },
    to_number: { takes: [['any']] },
    to_string: { takes: [['any']] },
    type: { takes: [['any']] },
    values: { takes: [['object']] },
} satisfies Record<string, Signature>;

export type FunctionName = keyof typeof SIGNATURES;

export function isFunction(name: string): name is FunctionName {
    return Object.hasOwn(SIGNATURES, name);
}

export function typesAt({ takes }: Signature, place: number): readonly ArgumentType[] {
    return takes[place] ?? takes.at(-1) ?? [];
}
