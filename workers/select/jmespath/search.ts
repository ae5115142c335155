import { LRUCache } from 'lru-cache';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { isNothing } from '../is-nothing.ts';
import { type Argument, callFunction, Reference } from './functions.ts';
import { areEqual, comparable } from './numbers.ts';
import { type Node, parseExpression } from './parse.ts';

/** An expression that is ready to run. */
type Evaluate = (value: Json) => Json;

const compiled = new LRUCache<string, Evaluate>({ max: 1000 });

/**
 * The result of a JMESPath expression over a value; null if it matches nothing. The library parses expressions, and this evaluates them,
 * because the library computes with doubles: ids beyond 2^53 would be equal to others, and lose digits in `max`, `min` and `sum`.
 * @throws Error for an invalid expression, and for arguments that a function does not take
 */
export function search(value: Json, expression: string): Json {
    let evaluate = compiled.get(expression);
    if (evaluate === undefined) {
        evaluate = compile(parseExpression(expression));
        compiled.set(expression, evaluate);
    }
    return evaluate(value);
}

function compile(node: Node | undefined): Evaluate {
    const build = node === undefined ? undefined : BUILDERS.get(node.type);
    if (node === undefined || build === undefined) throw new Error(`Unknown node type: ${node?.type}`);
    return build(node);
}

function compileAll({ children }: Node): Evaluate[] {
    return children.map(compile);
}

/** The first two parts of a node. */
function pairOf({ children: [first, second] }: Node): [first: Evaluate, second: Evaluate] {
    return [compile(first), compile(second)];
}

/** A value, or the expression of an argument such as `&name`. */
function compileArgument(node: Node): (value: Json) => Argument {
    if (node.type !== 'ExpressionReference') return compile(node);
    const reference = new Reference(compile(node.children[0]));
    return () => reference;
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

function chain(node: Node): Evaluate {
    const [first, second] = pairOf(node);
    return (value) => second(first(value));
}

const itself = (): Evaluate => (value) => value;

const BUILDERS: ReadonlyMap<string, (node: Node) => Evaluate> = new Map<string, (node: Node) => Evaluate>(
    Object.entries({
        Field({ name }) {
            return (value) => (isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null);
        },
        Subexpression: chain,
        IndexExpression: chain,
        Pipe: chain,
        Index({ value: index }) {
            return (value) => (Array.isArray(value) ? (value.at(index as number) ?? null) : null);
        },
        Slice({ children }) {
            return (value) => (Array.isArray(value) ? slice(value, children as unknown as Bounds) : null);
        },
        Projection(node) {
            const [first, second] = pairOf(node);
            return (value) => {
                const list = first(value);
                return Array.isArray(list) ? project(list, second) : null;
            };
        },
        ValueProjection(node) {
            const [first, second] = pairOf(node);
            return (value) => {
                const object = first(value);
                return isObject(object) ? project(Object.values(object), second) : null;
            };
        },
        FilterProjection(node) {
            const [first, second] = pairOf(node);
            const condition = compile(node.children[2]);
            return (value) => {
                const list = first(value);
                if (!Array.isArray(list)) return null;
                const kept = list.filter((item) => !isNothing(condition(item)));
                return project(kept, second);
            };
        },
        Flatten(node) {
            const list = compile(node.children[0]);
            return (value) => {
                const found = list(value);
                return Array.isArray(found) ? found.flat() : null;
            };
        },
        Comparator(node) {
            const [first, second] = pairOf(node);
            const { name } = node;
            return (value) => compare(name, first(value), second(value));
        },
        Identity: itself,
        Current: itself,
        MultiSelectList(node) {
            const items = compileAll(node);
            return (value) => (value === null ? null : items.map((item) => item(value)));
        },
        MultiSelectHash({ children }) {
            const fields = children.map(({ name, value }): [string, Evaluate] => [name, compile(value as Node)]);
            return (value) => (value === null ? null : Object.fromEntries(fields.map(([name, evaluate]) => [name, evaluate(value)])));
        },
        OrExpression(node) {
            const [first, second] = pairOf(node);
            return (value) => {
                const left = first(value);
                return isNothing(left) ? second(value) : left;
            };
        },
        AndExpression(node) {
            const [first, second] = pairOf(node);
            return (value) => {
                const left = first(value);
                return isNothing(left) ? left : second(value);
            };
        },
        NotExpression(node) {
            const negated = compile(node.children[0]);
            return (value) => isNothing(negated(value));
        },
        Literal({ value: literal }) {
            return () => literal as Json;
        },
        Function({ name, children }) {
            const args = children.map(compileArgument);
            return (value) =>
                callFunction(
                    name,
                    args.map((one) => one(value)),
                );
        },
    } satisfies Record<string, (node: Node) => Evaluate>),
);

function compare(name: string, left: Json, right: Json): boolean {
    if (name === 'EQ') return areEqual(left, right);
    if (name === 'NE') return !areEqual(left, right);
    const [one, other] = comparable(left, right) as [number, number];
    if (name === 'GT') return one > other;
    if (name === 'GTE') return one >= other;
    return name === 'LT' ? one < other : one <= other;
}

type Bounds = readonly [start: number | null, stop: number | null, step: number | null];

function slice(list: readonly Json[], [from, to, by]: Bounds): Json[] {
    const step = by ?? 1;
    if (step === 0) throw new Error('Invalid slice, step cannot be 0');
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
