/**
 * The literals that a script assigns to a variable, in the format of JSON if they are JSON; `window.X` may be written `window["X"]`. No
 * script is run.
 */
export function* literalsOf(script: string, name: string): Generator<string> {
    const last = /^(.+)\.([\w$]+)$/.exec(name);
    const spellings = last === null ? [name] : [name, `${last[1]}["${last[2]}"]`, `${last[1]}['${last[2]}']`];
    for (const spelling of spellings) {
        for (let at = script.indexOf(spelling); at !== -1; at = script.indexOf(spelling, at + 1)) {
            if (at > 0 && /[\w$.]/.test(script[at - 1] ?? '')) continue;
            const from = afterEquals(script, at + spelling.length, spelling);
            const literal = from === undefined ? undefined : (parsedText(script, from) ?? literalAt(script, from));
            if (literal !== undefined) yield withNulls(literal);
        }
    }
}

/** The literal at a place. A text in single quotes, as pages write their tokens, becomes one of JSON. */
function literalAt(script: string, from: number): string | undefined {
    const single = matchAt(SINGLE_QUOTED, script, from);
    if (single !== undefined) return quotedAsJson(single);
    const to = endOfLiteral(script, from);
    return to === undefined ? undefined : script.slice(from, to);
}

const SINGLE_QUOTED = /'[^'\\\n]*(?:\\.[^'\\\n]*)*'/y;

/** A text of a script, in quotes of either kind, as a text of JSON. It need not be well-formed. */
function quotedAsJson(literal: string): string {
    const escaped = literal.slice(1, -1).replaceAll(/\\x([\dA-Fa-f]{2})|\\'|\\[\s\S]|"/g, (whole, code: string | undefined) => {
        if (code !== undefined) return `\\u00${code}`;
        return whole === "\\'" ? "'" : whole === '"' ? '\\"' : whole;
    });
    return `"${escaped}"`;
}

/** A literal of a script in JSON: writers of states leave `undefined` in them. */
function withNulls(literal: string): string {
    if (!literal.includes('undefined')) return literal;
    let isText = false;
    return literal.replaceAll(/\\[\s\S]|"|\bundefined\b/g, (word) => {
        if (word === '"') isText = !isText;
        return word === 'undefined' && !isText ? 'null' : word;
    });
}

/** The place of the value in `X = …`, and in `X = X || …`, which keeps what an earlier script assigned. */
function afterEquals(script: string, from: number, name: string): number | undefined {
    const found = matchAt(/\s*(?:\|\||\?\?)?=(?!=)\s*/y, script, from);
    if (found === undefined) return undefined;
    const value = from + found.length;
    const kept = script.startsWith(name, value) ? matchAt(/\s*(?:\|\||\?\?)\s*/y, script, value + name.length) : undefined;
    return kept === undefined ? value : value + name.length + kept.length;
}

/**
 * The JSON in `JSON.parse("…")`, as which pages write large states, also percent-encoded; undefined if the value is written otherwise.
 */
function parsedText(script: string, from: number): string | undefined {
    const call = matchAt(
        /JSON\.parse\(\s*(?:decodeURIComponent\(\s*)?(?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')/y,
        script,
        from,
    );
    if (call === undefined) return undefined;
    try {
        const text = JSON.parse(quotedAsJson(call.slice(call.search(/["']/)))) as string;
        return /^JSON\.parse\(\s*decode/.test(call) ? decodeURIComponent(text) : text;
    } catch {
        return undefined;
    }
}

/** The end of an object or list, found by its brackets, or of a scalar. The parser later checks whether it is JSON. */
function endOfLiteral(script: string, from: number): number | undefined {
    const scalar = matchAt(/"[^"\\\n]*(?:\\.[^"\\\n]*)*"|[-+.\w]+/y, script, from);
    if (scalar !== undefined) return from + scalar.length;
    let depth = 0;
    for (let at = from; at < script.length; at++) {
        const sign = script[at];
        if (sign === '{' || sign === '[') depth++;
        else if (sign === '}' || sign === ']') depth--;
        else if (sign === '"') at += (matchAt(/"[^"\\\n]*(?:\\.[^"\\\n]*)*/y, script, at)?.length ?? 1) as number;
        if (depth === 0) return at + 1;
    }
    return undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
}
