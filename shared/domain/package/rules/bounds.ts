/** Bounds of a package that its documentation names too. They are apart from the rules, since an API loads no rules to name them. */

/** Maximum number of characters of an expression. */
export const MAX_LENGTH = 1000;
/** Maximum number of expressions in all selects of a package. */
export const MAX_EXPRESSIONS = 10_000;
/** Maximum number of characters of all expressions of a package. Compiling one takes up to 3 µs for each character. */
export const MAX_CHARACTERS = 250_000;

/** Maximum number of headers of an endpoint, and of characters of their names. */
export const MAX_HEADERS = 50;
export const MAX_HEADER_NAME = 100;
/** Maximum number of schemas of one endpoint's params that need compiling. A single call may contain all of these params. */
export const MAX_COMPILED = 30;
/** Maximum number of values that a step of `prepare` extracts. */
export const MAX_EXTRACTS = 20;
