/** The prefixes that sites put before JSON, so that no script can load it. */
const GUARD = /^\s*(?:\)\]\}'?,?|while\s*\(\s*1\s*\)\s*;|for\s*\(\s*;\s*;\s*\)\s*;|throw\s*1\s*;(?:\s*<[^>\n]{0,50}>)?|\{\}\s*&&)\s*/;

/** A variable or function of a script: `cb`, `jQuery.cb_1`, `window["cb"]`. */
const NAME = String.raw`[A-Za-z_$](?:[\w$.]|\[(?:"[\w$.-]{1,100}"|'[\w$.-]{1,100}'|\d{1,9})\]){0,100}`;

/** The beginning of a JSONP call or of JSON in parentheses, possibly with a comment (Express), a `try` and a check of the callback before it. */
const CALLBACK = new RegExp(
    String.raw`^[\s;]*(?:\/\*[^*]{0,100}\*\/\s*)?(?:try\s*\{\s*)?(?:(?:typeof\s+${NAME}\s*===?\s*['"]function['"]|${NAME})\s*&&\s*)?(?:${NAME}\s*)?\(`,
);

/** What follows the parenthesis that ends such a call: nothing, the end of `try`, or a comment. */
const CALL_REST = /^[\s;]*(?:\}\s*catch\s*\(\s*(?:\w+\s*)?\)\s*\{[^{}]{0,50}\}[\s;]*|\/\/[^\n]{0,100}\s*|\/\*[^*]{0,100}\*\/\s*)?$/;

/** The part of a call that is searched for its end, in characters. */
const MAX_REST = 300;

/** The beginning of a script that assigns an object or a list to a variable. */
const ASSIGNMENT = new RegExp(String.raw`^\s*(?:(?:var|let|const)\s+)?${NAME}\s*=\s*(?=[[{])`);

/**
 * The JSON in a text, without a prefix that guards it (`)]}'`), a function call around it (JSONP), or a variable that it is assigned to.
 * Byte order marks before it (PHP writes several) and NULs behind it (programs in C) are left out, too.
 */
export function jsonIn(answer: string): string {
    const text = plainIn(answer);
    const guard = GUARD.exec(text)?.[0];
    if (guard !== undefined) return text.slice(guard.length);
    const assignment = ASSIGNMENT.exec(text)?.[0];
    if (assignment !== undefined) return text.slice(assignment.length).trimEnd().replace(/;$/, '');
    const callback = CALLBACK.exec(text)?.[0];
    return callback === undefined ? text : text.slice(callback.length, endOfCall(text)) || text;
}

/** The place of the parenthesis that ends a call; 0 if the text does not end with a call. */
function endOfCall(text: string): number {
    const from = Math.max(0, text.length - MAX_REST);
    for (let end = text.lastIndexOf(')'); end > from; end = text.lastIndexOf(')', end - 1))
        if (CALL_REST.test(text.slice(end + 1))) return end;
    return 0;
}

/** The text without byte order marks at its beginning and NULs at its end. */
function plainIn(text: string): string {
    let start = 0;
    let end = text.length;
    while (text[start] === '\ufeff') start++;
    while (end > start && text[end - 1] === '\0') end--;
    return text.slice(start, end);
}

/** Whether a body begins like JSON in a script, or with a prefix that guards JSON. @param start the beginning of the body */
export function beginsLikeScript(start: string): boolean {
    return [GUARD, CALLBACK, ASSIGNMENT].some((beginning) => beginning.test(start));
}
