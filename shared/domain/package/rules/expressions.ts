import { LRUCache } from 'lru-cache';
import { getOrMake } from '../../get-or-make.ts';
import { parseExpression } from '../../jmespath/parse.ts';
import { ExpressionFault } from '../../jmespath/tokens.ts';
import { MAX_EXPRESSION_LENGTH } from './bounds.ts';

/** Faults by kind and text. Packages repeat selectors, and compiling one takes up to 1 ms. */
const checked = new LRUCache<string, { fault: string | undefined }>({ max: 1000 });

/** Why a JMESPath expression is invalid, and where, in sentences; undefined if it is valid. */
export function expressionFault(expression: string): string | undefined {
    return checkOnce('jmespath', expression, () => {
        try {
            parseExpression(expression);
            return undefined;
        } catch (error) {
            if (!(error instanceof ExpressionFault)) throw error;
            return error.message;
        }
    });
}

/** Why a text is invalid; remembered, since packages repeat their texts. */
export function checkOnce(kind: 'jmespath' | 'selector', source: string, find: () => string | undefined): string | undefined {
    if (source.trim() === '') return 'This may not be empty.';
    if (source.length > MAX_EXPRESSION_LENGTH) return `This is longer than ${MAX_EXPRESSION_LENGTH} characters.`;
    return getOrMake(checked, `${kind} ${source}`, () => ({ fault: find() })).fault;
}
