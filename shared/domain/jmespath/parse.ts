import type { Json } from '../types.ts';
import { type FunctionName, isFunction, SIGNATURES, type Signature, typesAt } from './signatures.ts';
import { ExpressionFault, type Token, tokensOf } from './tokens.ts';

export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** Start, stop and step of a slice; null where the expression leaves one out. */
export type Bounds = [start: number | null, stop: number | null, step: number | null];

export type Expression =
    | { type: 'current' }
    | { type: 'field'; name: string }
    | { type: 'literal'; value: Json }
    | { type: 'index'; index: number }
    | { type: 'slice'; bounds: Bounds }
    | { type: 'flatten'; list: Expression }
    | { type: 'list'; items: Expression[] }
    | { type: 'object'; fields: [name: string, value: Expression][] }
    | { type: 'not'; negated: Expression }
    | { type: 'compare'; comparator: Comparator; first: Expression; second: Expression }
    /** The second is evaluated over the result of the first: `a.b`, `a[0]`, `a | b`. */
    | { type: 'chain' | 'or' | 'and'; first: Expression; second: Expression }
    /** The second is evaluated over each item of a list, or each value of an object. */
    | { type: 'project items' | 'project values'; first: Expression; second: Expression }
    | { type: 'project matches'; first: Expression; second: Expression; condition: Expression }
    | { type: 'call'; name: FunctionName; args: Argument[] };

/** A value, or an expression that the function evaluates itself (`&name`). */
export type Argument = Expression | { type: 'reference'; expression: Expression };

/** How tightly a sign binds what precedes it. Other signs end an expression. */
const POWERS: Readonly<Partial<Record<Token['kind'], number>>> = {
    '|': 1,
    '||': 2,
    '&&': 3,
    '==': 5,
    '!=': 5,
    '<': 5,
    '<=': 5,
    '>': 5,
    '>=': 5,
    '[]': 9,
    '[?': 21,
    '.': 40,
    '[': 55,
};
/** Signs that bind less tightly end a projection. */
const PROJECTION = 20;
const NEGATION = 45;

const CURRENT: Expression = { type: 'current' };

/**
 * Parses an expression of JMESPath as its specification says. Where its grammar is ambiguous, the binding powers of the reference
 * implementation decide, so that expressions mean here what they mean elsewhere.
 * @throws ExpressionFault with the position at which it goes wrong
 */
export function parseExpression(expression: string): Expression {
    return new Parser(expression).parse();
}

/** Reads an expression from its start to its end by the binding powers of its signs. Its length bounds the recursion. */
class Parser {
    readonly #text: string;
    readonly #tokens: Token[];
    #place = 0;

    constructor(text: string) {
        this.#text = text;
        this.#tokens = tokensOf(text);
    }

    parse(): Expression {
        const whole = this.#expression(0);
        if (this.#next().kind !== 'end') throw this.#unexpected();
        return whole;
    }

    #next(ahead = 0): Token {
        return this.#tokens[this.#place + ahead] ?? { kind: 'end', at: this.#text.length };
    }

    #take(): Token {
        const token = this.#next();
        this.#place += 1;
        return token;
    }

    #takes(kind: Token['kind']): boolean {
        if (this.#next().kind !== kind) return false;
        this.#place += 1;
        return true;
    }

    #require(kind: Token['kind']): void {
        if (!this.#takes(kind)) throw this.#unexpected();
    }

    #unexpected(token = this.#next(), why?: string): ExpressionFault {
        return new ExpressionFault(this.#text, token.at, why);
    }

    #powerOfNext(): number {
        return POWERS[this.#next().kind] ?? 0;
    }

    #expression(power: number): Expression {
        let expression = this.#start();
        while (this.#powerOfNext() > power) expression = this.#continue(expression);
        return expression;
    }

    /** What may begin an expression. */
    #start(): Expression {
        const token = this.#take();
        switch (token.kind) {
            case 'name':
                return this.#next().kind === '(' ? this.#call(token.name, token) : { type: 'field', name: token.name };
            case 'quoted name':
                return { type: 'field', name: token.name };
            case 'literal':
                return { type: 'literal', value: token.value };
            case '@':
                return CURRENT;
            case '*':
                return { type: 'project values', first: CURRENT, second: this.#projected() };
            case '!':
                return { type: 'not', negated: this.#expression(NEGATION) };
            case '(': {
                const inner = this.#expression(0);
                this.#require(')');
                return inner;
            }
            case '{':
                return this.#object();
            case '[':
                return this.#isInBrackets() ? this.#bracket(CURRENT) : this.#list();
            case '[]':
            case '[?':
                this.#place -= 1;
                return this.#continue(CURRENT);
            default:
                throw this.#unexpected(token);
        }
    }

    /** What may follow an expression. */
    #continue(first: Expression): Expression {
        const token = this.#take();
        const power = POWERS[token.kind] ?? 0;
        switch (token.kind) {
            case '.':
                if (this.#takes('*')) return { type: 'project values', first, second: this.#projected() };
                return { type: 'chain', first, second: this.#child(power) };
            case '|':
                return { type: 'chain', first, second: this.#expression(power) };
            case '||':
                return { type: 'or', first, second: this.#expression(power) };
            case '&&':
                return { type: 'and', first, second: this.#expression(power) };
            case '==':
            case '!=':
            case '<':
            case '<=':
            case '>':
            case '>=':
                return { type: 'compare', comparator: token.kind, first, second: this.#expression(power) };
            case '[]':
                return { type: 'project items', first: { type: 'flatten', list: first }, second: this.#projected() };
            case '[?': {
                const condition = this.#expression(0);
                this.#require(']');
                return { type: 'project matches', first, condition, second: this.#projected() };
            }
            case '[':
                if (!this.#isInBrackets()) throw this.#unexpected();
                return this.#bracket(first);
            default:
                throw this.#unexpected(token);
        }
    }

    /** What a projection evaluates for each item. */
    #projected(): Expression {
        if (this.#powerOfNext() <= PROJECTION) return CURRENT;
        if (this.#takes('.')) return this.#child(PROJECTION);
        return this.#expression(PROJECTION);
    }

    /** What may follow a dot. */
    #child(power: number): Expression {
        const { kind } = this.#next();
        if (kind === 'name' || kind === 'quoted name' || kind === '*') return this.#expression(power);
        if (this.#takes('[')) return this.#list();
        if (this.#takes('{')) return this.#object();
        throw this.#unexpected();
    }

    /** Whether a bracket begins an index, a slice or `[*]`, and not a list of expressions. */
    #isInBrackets(): boolean {
        const { kind } = this.#next();
        return kind === 'number' || kind === ':' || (kind === '*' && this.#next(1).kind === ']');
    }

    #bracket(first: Expression): Expression {
        if (this.#takes('*')) {
            this.#require(']');
            return { type: 'project items', first, second: this.#projected() };
        }
        const start = this.#number();
        if (start !== null && this.#takes(']')) return { type: 'chain', first, second: { type: 'index', index: start } };
        this.#require(':');
        const stop = this.#number();
        const at = this.#next(1);
        const step = this.#takes(':') ? this.#number() : null;
        if (step === 0) throw this.#unexpected(at, 'The step of a slice may not be 0.');
        this.#require(']');
        const slice: Expression = { type: 'chain', first, second: { type: 'slice', bounds: [start, stop, step] } };
        return { type: 'project items', first: slice, second: this.#projected() };
    }

    #number(): number | null {
        const token = this.#next();
        if (token.kind !== 'number') return null;
        this.#place += 1;
        return token.number;
    }

    #list(): Expression {
        const items: Expression[] = [];
        do items.push(this.#expression(0));
        while (this.#takes(','));
        this.#require(']');
        return { type: 'list', items };
    }

    #object(): Expression {
        const fields: [string, Expression][] = [];
        do {
            const token = this.#take();
            if (token.kind !== 'name' && token.kind !== 'quoted name') throw this.#unexpected(token);
            this.#require(':');
            fields.push([token.name, this.#expression(0)]);
        } while (this.#takes(','));
        this.#require('}');
        return { type: 'object', fields };
    }

    #call(name: string, token: Token): Expression {
        this.#require('(');
        if (!isFunction(name)) throw this.#unexpected(token, 'This expression calls a function that JMESPath does not have.');
        const signature: Signature = SIGNATURES[name];
        const args: Argument[] = [];
        if (!this.#takes(')')) {
            do args.push(this.#argument(name, typesAt(signature, args.length).includes('expression')));
            while (this.#takes(','));
            this.#require(')');
        }
        const { takes, isVariadic } = signature;
        if (isVariadic ? args.length < takes.length : args.length !== takes.length) {
            const count = `${isVariadic ? 'at least ' : ''}${takes.length} ${takes.length === 1 ? 'argument' : 'arguments'}`;
            throw this.#unexpected(token, `${name}() takes ${count}; here it has ${args.length}.`);
        }
        return { type: 'call', name, args };
    }

    #argument(name: string, isReference: boolean): Argument {
        const token = this.#next();
        if (!this.#takes('&')) {
            if (isReference) throw this.#unexpected(token, `${name}() needs an expression with & here.`);
            return this.#expression(0);
        }
        if (!isReference) throw this.#unexpected(token, `${name}() needs a value here, without &.`);
        return { type: 'reference', expression: this.#expression(0) };
    }
}
