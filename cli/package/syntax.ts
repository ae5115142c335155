import { type Place, placeIn } from './positions.ts';

type Wanted = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or }' | ', or ]' | 'end';

const SAID: Readonly<Record<Wanted, string>> = {
    value: 'a value is expected here',
    'value or ]': 'a value or ] is expected here',
    key: 'a name in double quotes is expected here',
    'key or }': 'a name in double quotes or } is expected here',
    ':': 'a : is expected here',
    ', or }': 'a , or } is expected here',
    ', or ]': 'a , or ] is expected here',
    end: 'the document must end here',
};

const SPACE = /[ \t\n\r]*/y;
const SCALAR =
    /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/y;

/** Locates the first JSON syntax error, since JSON.parse does not always say where it is. The message never repeats the text. */
export function findSyntaxFault(text: string): (Place & { what: string }) | undefined {
    const open: ('{' | '[')[] = [];
    let wanted: Wanted = 'value';
    let at = 0;
    const afterValue = (): Wanted => (open.length === 0 ? 'end' : open.at(-1) === '{' ? ', or }' : ', or ]');
    for (;;) {
        at = endOf(SPACE, text, at) ?? at;
        const char = text[at];
        if (char === undefined) return wanted === 'end' ? undefined : { ...placeIn(text, at), what: 'unexpected end of the file' };
        const isValueNext = wanted === 'value' || wanted === 'value or ]';
        if (isValueNext && (char === '{' || char === '[')) {
            open.push(char);
            wanted = char === '{' ? 'key or }' : 'value or ]';
            at++;
        } else if ((char === '}' && wanted.endsWith('}')) || (char === ']' && wanted.endsWith(']'))) {
            open.pop();
            wanted = afterValue();
            at++;
        } else if (char === ',' && wanted.startsWith(', or')) {
            wanted = open.at(-1) === '{' ? 'key' : 'value';
            at++;
        } else if (char === ':' && wanted === ':') {
            wanted = 'value';
            at++;
        } else {
            const isKeyNext: boolean = wanted === 'key' || wanted === 'key or }';
            const end = isValueNext || (isKeyNext && char === '"') ? endOf(SCALAR, text, at) : undefined;
            if (end === undefined) return { ...placeIn(text, at), what: char === '"' ? describeUnclosed(wanted) : SAID[wanted] };
            wanted = isKeyNext ? ':' : afterValue();
            at = end;
        }
    }
}

function describeUnclosed(wanted: Wanted): string {
    return /^(value|key)/.test(wanted) ? 'this string is not closed, or a character in it must be escaped' : SAID[wanted];
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
    pattern.lastIndex = at;
    return pattern.test(text) ? pattern.lastIndex : undefined;
}
