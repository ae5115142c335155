import { parseExact } from '../json/exact-numbers.ts';
import type { Json } from '../types.ts';

/** Why an expression cannot be parsed, and where. */
export class ExpressionFault extends Error {
    /** @param at index of the character at which it goes wrong; the length of the expression if it ends too early */
    constructor(expression: string, at: number, why = 'This is not a valid JMESPath expression.') {
        super(`${why} ${at < expression.length ? `It goes wrong at character ${at + 1}.` : 'It ends too early.'}`);
    }
}

/** Signs with a meaning, the longest first. `end` follows the last token. */
const SIGNS = ['[?', '[]', '||', '&&', '==', '!=', '<=', '>=', '.', '*', '|', '&', '!', '<', '>', '@', ',', ':'] as const;
const BRACKETS = ['(', ')', '[', ']', '{', '}'] as const;

type Sign = (typeof SIGNS)[number] | (typeof BRACKETS)[number];

export type Token = { at: number } & (
    | { kind: Sign | 'end' }
    | { kind: 'name' | 'quoted name'; name: string }
    | { kind: 'number'; number: number }
    | { kind: 'literal'; value: Json }
);

const ALL_SIGNS: readonly Sign[] = [...SIGNS, ...BRACKETS];

const BLANK = /[ \t\n\r]+/y;
const NAME = /[A-Za-z_]\w*/y;
const NUMBER = /-?\d+/y;
/** A text in quotes, in which a backslash takes the next character with it. */
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/sy;

/** The tokens of an expression. Literals and quoted names are read. @throws ExpressionFault */
export function tokensOf(expression: string): Token[] {
    const tokens: Token[] = [];
    let at = 0;
    const take = (pattern: RegExp): string | undefined => {
        pattern.lastIndex = at;
        return pattern.exec(expression)?.[0];
    };
    while (at < expression.length) {
        const blank = take(BLANK);
        if (blank !== undefined) {
            at += blank.length;
            continue;
        }
        const name = take(NAME);
        const number = name === undefined ? take(NUMBER) : undefined;
        const quoted = take(QUOTED);
        const sign = ALL_SIGNS.find((one) => expression.startsWith(one, at));
        if (name !== undefined) tokens.push({ at, kind: 'name', name });
        else if (number !== undefined) tokens.push({ at, kind: 'number', number: Number(number) });
        else if (quoted !== undefined) tokens.push(readQuoted(expression, at, quoted));
        else if (sign !== undefined) tokens.push({ at, kind: sign });
        else throw new ExpressionFault(expression, at);
        at += (name ?? number ?? quoted ?? sign ?? '').length;
    }
    tokens.push({ at, kind: 'end' });
    return tokens;
}

function readQuoted(expression: string, at: number, quoted: string): Token {
    const text = quoted.slice(1, -1);
    try {
        if (quoted[0] === '"') return { at, kind: 'quoted name', name: JSON.parse(quoted) as string };
        return { at, kind: 'literal', value: quoted[0] === "'" ? text.replaceAll("\\'", "'") : literalOf(text.replaceAll('\\`', '`')) };
    } catch {
        throw new ExpressionFault(expression, at, 'A name in quotes or a literal is not JSON.');
    }
}

/** A literal that is read as JSON. Others are texts without quotes, for each of which an error would take 30 µs. */
const JSON_VALUE = /^[ \t\n\r]*(?:[[{"]|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)[ \t\n\r]*$)/;

/** JSON, or a text without its quotes: the specification deprecates these, and packages have them. Numbers keep their digits. */
function literalOf(text: string): Json {
    return JSON_VALUE.test(text) ? parseExact(text) : (JSON.parse(`"${text.trimStart()}"`) as string);
}
