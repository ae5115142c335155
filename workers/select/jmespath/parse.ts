import jmespath from 'jmespath';
import { isExact, mayRound, parseExact } from '../../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json } from '../../../shared/domain/types.ts';

/** A node of a parsed expression. */
export interface Node {
    type: string;
    name: string;
    value: unknown;
    children: readonly Node[];
}

/** Parses an expression. Its number literals keep their digits. @throws Error for an expression that is invalid */
export function parseExpression(expression: string): Node {
    const marked = markNumbers(expression);
    const node = jmespath.compile(marked);
    return (marked === expression ? node : restoreNumbers(node)) as Node;
}

/** Begins a text that stands for a number whose digits the parser would round. */
const MARK = '\u0001';
/** How an expression writes the mark itself. Numbers of such an expression may be rounded. */
const MARK_SPELLINGS = [MARK, '\\u0001'];

/** Quoted names, raw texts and literals. */
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`((?:[^`\\]|\\.)*)`/gs;

function markNumbers(expression: string): string {
    if (!mayRound(expression) || MARK_SPELLINGS.some((spelling) => expression.includes(spelling))) return expression;
    return expression.replaceAll(QUOTED, (whole, literal: string | undefined) => {
        if (literal === undefined || !mayRound(literal) || literal.includes('\\`')) return whole;
        try {
            return `\`${JSON.stringify(parseExact(literal), withMark)}\``;
        } catch {
            // The parser takes what is not JSON as text.
            return whole;
        }
    });
}

function withMark(this: unknown, key: string, value: unknown): unknown {
    const original = (this as Readonly<Record<string, unknown>>)[key];
    return isExact(original) ? `${MARK}${String(original)}` : value;
}

function restoreNumbers(part: unknown): unknown {
    if (typeof part === 'string') return part.startsWith(MARK) ? parseExact(part.slice(MARK.length)) : part;
    if (Array.isArray(part)) return part.map(restoreNumbers);
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, one]: [string, Json]) => [name, restoreNumbers(one)]));
}
