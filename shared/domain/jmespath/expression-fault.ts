/** Why an expression cannot be parsed, and where. */
export class ExpressionFault extends Error {
    /** @param at index of the character at which it goes wrong; the length of the expression if it ends too early */
    constructor(expression: string, at: number, why = 'This is not a valid JMESPath expression.') {
        super(`${why} ${at < expression.length ? `It goes wrong at character ${at + 1}.` : 'It ends too early.'}`);
    }
}
