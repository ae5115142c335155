import { LRUCache } from 'lru-cache';
import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { type Argument, type Bounds, type Expression, parseExpression } from '../../../shared/domain/jmespath/parse.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { isNothing } from '../is-nothing.ts';
import { type ArgumentValue, callFunction, Reference } from './functions.ts';
import { compare } from './numbers.ts';

/** An expression that is ready to run. */
type Evaluate = (value: Json) => Json;

const compiled = new LRUCache<string, Evaluate>({ max: 1000 });

/**
 * The result of a JMESPath expression over a value; null if it matches nothing.
 * @throws Error for an invalid expression, and for arguments that a function does not take
 */
export function search(value: Json, expression: string): Json {
    const evaluate = getOrMake(compiled, expression, () => compile(parseExpression(expression)));
    return evaluate(value);
}

function compile(expression: Expression): Evaluate {
    switch (expression.type) {
        case 'current':
            return (value) => value;
        case 'field':
            return fieldNamed(expression.name);
        case 'literal':
            return () => expression.value;
        case 'index':
            return (value) => (Array.isArray(value) ? (value.at(expression.index) ?? null) : null);
        case 'slice':
            return (value) => (Array.isArray(value) ? slice(value, expression.bounds) : null);
        case 'flatten':
            return flattened(compile(expression.list));
        case 'list':
            return listOf(expression.items.map(compile));
        case 'object':
            return objectOf(expression.fields.map(([name, field]) => [name, compile(field)]));
        case 'not': {
            const negated = compile(expression.negated);
            return (value) => isNothing(negated(value));
        }
        case 'call':
            return callOf(expression);
        default:
            return compilePair(expression, compile(expression.first), compile(expression.second));
    }
}

type Pair = Extract<Expression, { first: Expression }>;

function compilePair(pair: Pair, first: Evaluate, second: Evaluate): Evaluate {
    switch (pair.type) {
        case 'chain':
            return (value) => second(first(value));
        case 'or':
            return (value) => {
                const found = first(value);
                return isNothing(found) ? second(value) : found;
            };
        case 'and':
            return (value) => {
                const found = first(value);
                return isNothing(found) ? found : second(value);
            };
        case 'compare':
            return (value) => compare(pair.comparator, first(value), second(value));
        case 'project items':
            return (value) => {
                const list = first(value);
                return Array.isArray(list) ? project(list, second) : null;
            };
        case 'project values':
            return (value) => {
                const object = first(value);
                return isObject(object) ? project(Object.values(object), second) : null;
            };
        case 'project matches': {
            const condition = compile(pair.condition);
            return (value) => {
                const list = first(value);
                if (!Array.isArray(list)) return null;
                const matches = list.filter((item) => !isNothing(condition(item)));
                return project(matches, second);
            };
        }
    }
}

/** The results for each item that are not null. */
function project(items: readonly Json[], evaluate: Evaluate): Json[] {
    const found: Json[] = [];
    for (const item of items) {
        const one = evaluate(item);
        if (one !== null) found.push(one);
    }
    return found;
}

function fieldNamed(name: string): Evaluate {
    return (value) => (isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null);
}

function flattened(list: Evaluate): Evaluate {
    return (value) => {
        const found = list(value);
        return Array.isArray(found) ? found.flat() : null;
    };
}

function listOf(items: readonly Evaluate[]): Evaluate {
    return (value) => (value === null ? null : items.map((item) => item(value)));
}

function objectOf(fields: readonly (readonly [string, Evaluate])[]): Evaluate {
    return (value) => (value === null ? null : Object.fromEntries(fields.map(([name, evaluate]) => [name, evaluate(value)])));
}

function callOf({ name, args }: Extract<Expression, { type: 'call' }>): Evaluate {
    const compiledArgs = args.map(compileArgument);
    return (value) =>
        callFunction(
            name,
            compiledArgs.map((one) => one(value)),
        );
}

function compileArgument(argument: Argument): (value: Json) => ArgumentValue {
    if (argument.type !== 'reference') return compile(argument);
    const reference = new Reference(compile(argument.expression));
    return () => reference;
}

function slice(list: readonly Json[], [from, to, by]: Bounds): Json[] {
    const step = by ?? 1;
    const isForward = step > 0;
    const cap = (bound: number) => {
        const at = bound < 0 ? bound + list.length : bound;
        return isForward ? Math.min(Math.max(at, 0), list.length) : Math.min(Math.max(at, -1), list.length - 1);
    };
    const start = from === null ? (isForward ? 0 : list.length - 1) : cap(from);
    const stop = to === null ? (isForward ? list.length : -1) : cap(to);
    const found: Json[] = [];
    for (let at = start; isForward ? at < stop : at > stop; at += step) found.push(list[at] ?? null);
    return found;
}
