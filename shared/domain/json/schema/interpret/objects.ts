import type { Json, JsonObject } from '../../../types.ts';
import { spend } from '../patterns.ts';
import { isObject } from '../structure.ts';
import { type Check, checkPart, fail, type Node, type State } from './node.ts';
import { matches } from './plain.ts';
import type { Building, Rule } from './rule.ts';

function ofObject(fits: (value: JsonObject, state: State, seen: Parameters<Check>[2]) => boolean): Check {
    return (value, state, seen) => !isObject(value) || fits(value, state, seen);
}

function ofCount(keyword: 'minProperties' | 'maxProperties', words: string, fits: (length: number, given: number) => boolean): Rule {
    return ({ [keyword]: given }) => {
        if (typeof given !== 'number') return undefined;
        return ofObject(
            (value, state) => fits(namesOf(value).length, given) || fail(state, keyword, `must have ${words} ${given} properties`),
        );
    };
}

function namesOf(value: JsonObject): string[] {
    const names = Object.keys(value);
    spend(names.length);
    return names;
}

const required: Rule = ({ required: given }) => {
    if (!Array.isArray(given) || given.length === 0) return undefined;
    const names = given.map(String);
    return ofObject((value, state) => {
        spend(names.length);
        const absent = names.find((name) => !Object.hasOwn(value, name));
        return absent === undefined || fail(state, 'required', `must have required property '${absent}'`);
    });
};

const propertyNames: Rule = ({ propertyNames: given }, building) => {
    if (given === undefined) return undefined;
    const { check } = building.node(given);
    return ofObject((value, state) =>
        namesOf(value).every((name) => check(name, state, undefined) || fail(state, 'propertyNames', 'property name must be valid')),
    );
};

function nodesOf(given: Json | undefined, building: Building): [string, Node][] {
    return isObject(given) ? Object.entries(given).map(([name, schema]) => [name, building.node(schema)]) : [];
}

const properties: Rule = (schema, building) => {
    const { additionalProperties: rest } = schema;
    const named = new Map(nodesOf(schema['properties'], building));
    const patterns = nodesOf(schema['patternProperties'], building);
    const others = rest === undefined ? undefined : building.node(rest);
    if (named.size === 0 && patterns.length === 0 && others === undefined) return undefined;
    building.keeps(100 * named.size);
    return ofObject((value, state, seen) => {
        for (const name of namesOf(value)) {
            const part = value[name] as Json;
            const own = named.get(name);
            let isChecked = own !== undefined;
            if (own !== undefined && !checkPart(own, part, name, state)) return false;
            for (const [source, node] of patterns) {
                if (!matches(source, name)) continue;
                isChecked = true;
                if (!checkPart(node, part, name, state)) return false;
            }
            if (!isChecked && others !== undefined) {
                if (rest === false) return fail(state, 'additionalProperties', STRAY, name);
                if (!checkPart(others, part, name, state)) return false;
                isChecked = true;
            }
            if (isChecked) seen?.names.add(name);
        }
        return true;
    });
};

const STRAY = 'is not a property of this object';

const dependentSchemas: Rule = ({ dependentSchemas: given }, building) => {
    const nodes = nodesOf(given, building);
    if (nodes.length === 0) return undefined;
    return ofObject((value, state, seen) => {
        spend(nodes.length);
        return nodes.every(([name, { check }]) => !Object.hasOwn(value, name) || check(value, state, seen));
    });
};

const dependentRequired: Rule = ({ dependentRequired: given }) => {
    if (!isObject(given)) return undefined;
    const rules = Object.entries(given).map(([name, names]) => [name, (names as Json[]).map(String)] as const);
    return ofObject((value, state) =>
        rules.every(([name, names]) => {
            spend(1);
            if (!Object.hasOwn(value, name)) return true;
            spend(names.length);
            if (names.every((one) => Object.hasOwn(value, one))) return true;
            const words = `${names.length === 1 ? 'property' : 'properties'} ${names.join(', ')}`;
            return fail(state, 'dependentRequired', `must have ${words} when property ${name} is present`);
        }),
    );
};

const unevaluatedProperties: Rule = ({ unevaluatedProperties: given }, building) => {
    if (given === undefined) return undefined;
    const node = building.node(given);
    return ofObject((value, state, seen) => {
        if (seen === undefined || seen.allNames) return true;
        for (const name of namesOf(value)) {
            if (seen.names.has(name)) continue;
            if (given === false) return fail(state, 'unevaluatedProperties', STRAY, name);
            if (!checkPart(node, value[name] as Json, name, state)) return false;
        }
        seen.allNames = true;
        return true;
    });
};

export const OBJECT_RULES: readonly Rule[] = [
    ofCount('maxProperties', 'at most', (length, given) => length <= given),
    ofCount('minProperties', 'at least', (length, given) => length >= given),
    required,
    dependentRequired,
    propertyNames,
    properties,
    dependentSchemas,
    unevaluatedProperties,
];
