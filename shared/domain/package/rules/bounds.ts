/** Limits of a package. They are apart from the rules, so that the documentation names them without loading cheerio or the expression parser. */

export const MAX_EXPRESSION_LENGTH = 1000;
/** With both limits, a package compiles in 2 s at most: a character takes up to 6 µs, a short expression 40 µs. */
export const MAX_EXPRESSIONS = 10_000;
export const MAX_EXPRESSION_CHARACTERS = 250_000;

/** Maximum number of levels of a CSS selector such as `:not(:is(a))`. Compiling one takes ten times as long with a hundred levels. */
export const MAX_SELECTOR_NESTING = 8;

/** Maximum number of headers of an endpoint, and of characters of their names. */
export const MAX_HEADERS = 50;
export const MAX_HEADER_NAME = 100;
/** Maximum number of schemas of one endpoint's params that need compiling. A single call may contain all of these params. */
export const MAX_COMPILED = 30;
/** Maximum number of values that a step of `prepare` extracts. */
export const MAX_EXTRACTS = 20;
/** Maximum number of outputs of a map in `select`, and of levels of such maps. */
export const MAX_OUTPUTS = 200;
export const MAX_SELECT_NESTING = 8;
