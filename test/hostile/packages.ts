import type { RefusalCode } from '../../shared/refusals.ts';
import { fetchAgain } from './reading.ts';
import type { Heard, Stranger, Target } from './stranger.ts';

/** The package and the site's response, at some size. */
export interface Bomb {
    response: object;
    pagination?: object;
    contentType: string;
    body: string;
    /** The text of each page by its path, if pages differ. */
    bodyAt?(path: string): string;
}

/** One row: a package that a stranger may publish. Its name continues "a package that". */
export interface HostilePackage extends Stranger {
    /** A worker does the work. */
    kind: 'reading';
    /** @param scale multiplies its numbers: 1, 0.5 or 2 */
    at(scale: number): Bomb;
    /** The same with a package that selects nothing from responses of the same size. */
    runPlain(target: Target, until: AbortSignal): Promise<Heard>;
    /** The caller's error at scale 1. At other scales, success may be right as well. */
    code: RefusalCode;
}

const MIB = 1024 * 1024;
const EIGHT = '[@,@,@,@,@,@,@,@][]';

const VARIANT = { isVariant: true };
const SAMPLE = { isSample: true };
const PLAIN = { response: {}, contentType: 'application/json', body: '[]' };

/** @param at the package and the site's response, if that is not an empty list */
export function row(name: string, at: (scale: number) => Partial<Bomb>, more: Partial<HostilePackage> = {}): HostilePackage {
    const bomb = (scale: number): Bomb => ({ ...PLAIN, ...at(scale) });
    return {
        name,
        kind: 'reading',
        at: bomb,
        code: 'UPSTREAM_INVALID_RESPONSE',
        run: (target, until) => fetchAgain(bomb(1), target, until),
        runPlain: (target, until) => fetchAgain(plainOf(bomb(1)), target, until),
        ...more,
    };
}

/** One response of this size stands for those of many pages. */
function plainOf({ contentType, body, bodyAt }: Bomb): Bomb {
    const text = bodyAt === undefined ? body : JSON.stringify({ text: 'x'.repeat(4.5 * MIB) });
    return { response: contentType === 'text/html' ? { type: 'text' } : {}, contentType, body: text };
}

const times = (count: number, text: string, by = '.') => Array.from({ length: Math.max(1, Math.round(count)) }, () => text).join(by);
/** A list of this many bytes. */
const list = (bytes: number) =>
    JSON.stringify(Array.from({ length: Math.round(bytes / 40) }, (_, id) => ({ id, name: `item number ${id}` })));
const long = (bytes: number) => JSON.stringify({ s: 'x'.repeat(Math.round(bytes)) });
const numbers = (count: number) => JSON.stringify(Array.from({ length: Math.round(count) }, (_, id) => id));
const json = (select: unknown, schema?: object) => ({ type: 'json', select, ...(schema === undefined ? {} : { schema }) });

/** To add a row, add an entry here. Specs and benches run all of them. */
export const HOSTILE_PACKAGES: readonly HostilePackage[] = [
    row('flattens eight copies of a page, again and again', (n) => ({ response: json(times(6 * n, EIGHT)), body: list(MIB) })),
    row('flattens eight copies of a long text, again and again', (n) => ({ response: json(times(6 * n, EIGHT)), body: long(MIB) }), {
        ...VARIANT,
        ...SAMPLE,
    }),
    row('flattens eight copies behind pipes', (n) => ({ response: json(times(6 * n, EIGHT, '|')), body: list(MIB) }), VARIANT),
    row('selects one text of some MiB hundreds of times', (n) => ({
        response: json(`[${times(90 * n, 's', ',')}]`),
        body: long(2 * MIB * n),
    })),
    row(
        'selects the page under many names',
        (n) => ({
            response: json(Object.fromEntries(Array.from({ length: Math.min(200, Math.round(100 * n)) }, (_, i) => [`f${i}`, '@']))),
            body: list(MIB),
        }),
        VARIANT,
    ),
    row('nests copies of copies', (n) => ({ response: json(times(24 * n, '[@,@]', '|')), body: '{"a":1}' }), VARIANT),
    row('joins a long text with itself', (n) => ({
        response: json(`[${times(10, 's', ',')}]|[join('',@),join('',@),join('',@)]|join('',@)`),
        body: long(2 * MIB * n),
    })),
    row(
        'writes a text of a text',
        (n) => ({
            response: json(`[${times(90 * n, '@', ',')}]|to_string(@)|[@,@,@]|to_string(@)`),
            body: list(MIB),
        }),
        VARIANT,
    ),
    row('sorts copies of a page', (n) => ({ response: json(`${times(3 * n, EIGHT)}|sort_by(@,&name)`), body: list(MIB) }), VARIANT),
    row(
        'maps each thing to the whole list',
        (n) => ({
            response: json('[*].[@,@,@,@,@,@,@,@]|map(&[@,@,@,@],@)|[][]|[*].[@,@,@,@]|[][]|[*].[@,@,@,@]'),
            body: numbers(400_000 * n),
        }),
        VARIANT,
    ),
    row(
        'turns a long text round and round',
        (n) => ({ response: json(`s|${times(20 * n, 'reverse(@)', '|')}`), body: long(4 * MIB) }),
        VARIANT,
    ),
    row('merges a wide object with itself', (n) => ({
        response: json(times(40 * n, 'merge(@,@)', '|')),
        body: JSON.stringify(Object.fromEntries(Array.from({ length: Math.round(100_000 * n) }, (_, i) => [`k${i}`, i]))),
    })),
    row('compares each thing of a long list with each other one', (n) => ({
        response: json(undefined, { type: 'object', properties: { items: { type: 'array', uniqueItems: true } } }),
        body: JSON.stringify(Array.from({ length: Math.round(60_000 * n) }, (_, id) => ({ id }))),
    })),
    row('holds a long text against a pattern at each of its letters', (n) => ({
        response: json(undefined, {
            type: 'object',
            properties: {
                s: { allOf: Array.from({ length: 100 }, (_, i) => ({ pattern: `^(x|xx|xxx|y)*(a?){${1 + (i % 20)}}x{1,${1 + i}}$` })) },
            },
        }),
        body: long(2 * MIB * n),
    })),
    row(
        'looks for a long text in a longer one',
        (n) => ({
            response: json("contains(s, join('', ['b', h])) || [s,s,s,s,s,s]"),
            body: JSON.stringify({ s: 'a'.repeat(2 * MIB * n), h: 'a'.repeat(Math.round(MIB * n)) }),
        }),
        VARIANT,
    ),
    row('takes the HTML around each element of a deep page', (n) => ({
        response: { type: 'html', select: { a: [{ selector: '*', value: 'outerHTML' }] } },
        contentType: 'text/html',
        body: `${'<div>'.repeat(20_000 * n)}x`,
    })),
    row(
        'makes text of lists in lists',
        (n) => ({
            response: { type: 'html' },
            contentType: 'text/html',
            body: '<ul><li>a<blockquote>'.repeat(4000 * n) + 'line<br>'.repeat(60_000),
        }),
        VARIANT,
    ),
    row(
        'repeats the long name of a column in each row of a table',
        (n) => ({ response: { type: 'csv' }, contentType: 'text/csv', body: `${'x'.repeat(100_000 * n)}\n${'1\n'.repeat(100_000 * n)}` }),
        VARIANT,
    ),
    row(
        'never ends a quoted value of a table',
        (n) => ({ response: { type: 'csv' }, contentType: 'text/csv', body: `a,b\n"${'x" y,"\n'.repeat(500_000 * n)}` }),
        VARIANT,
    ),
    row(
        'fills a table with empty columns',
        (n) => ({ response: { type: 'csv' }, contentType: 'text/csv', body: ','.repeat(4 * MIB * n) }),
        VARIANT,
    ),
    row(
        'selects all rows of a table for each of its rows',
        (n) => ({
            response: { type: 'csv', select: { items: 'items[].[a, items]', all: times(6 * n, EIGHT) } },
            contentType: 'text/csv',
            body: `a,b\n${'1,2\n'.repeat(100_000 * n)}`,
        }),
        VARIANT,
    ),
    row(
        'takes all texts of each element of a deep document',
        (n) => ({
            response: { type: 'xml', select: { a: [{ selector: '*', value: { b: ['*'] } }] } },
            contentType: 'application/xml',
            body: `<r>${`${'<a>'.repeat(90)}${'x'.repeat(100)}${'</a>'.repeat(90)}`.repeat(400 * n)}</r>`,
        }),
        { ...VARIANT, ...SAMPLE },
    ),
    row(
        'expands entities of XML',
        () => ({
            response: { type: 'xml', select: { a: 'a' } },
            contentType: 'application/xml',
            body: `<!DOCTYPE a [<!ENTITY e0 "lol">${Array.from({ length: 20 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`).join('')}]><a>&e20;</a>`,
        }),
        VARIANT,
    ),
    row(
        'gives an element of XML many thousands of attributes, twice',
        (n) => {
            const attributes = Array.from({ length: Math.round(200_000 * n) }, (_, i) => ` a${i}=""`).join('');
            return { response: { type: 'xml' }, contentType: 'application/xml', body: `<a${attributes}${attributes}/>` };
        },
        VARIANT,
    ),
    row(
        'lets each of many entries have the long author of their feed',
        (n) => ({
            response: { type: 'feed' },
            contentType: 'application/atom+xml',
            body: `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><author><name>${'x'.repeat(100_000 * n)}</name></author>${'<entry><id>1</id></entry>'.repeat(2000 * n)}</feed>`,
        }),
        VARIANT,
    ),
    row(
        'looks for an assignment that begins thousands of times and never ends',
        (n) => ({
            response: { type: 'html', select: { a: { assign: 'x', json: 'a' } } },
            contentType: 'text/html',
            body: `<script>${'x={"a":'.repeat(100_000 * n)}</script>`,
        }),
        { ...VARIANT, ...SAMPLE },
    ),
    row(
        'spans a thousand columns with each cell of a table',
        (n) => ({
            response: { type: 'html', select: { a: { table: 'table' } } },
            contentType: 'text/html',
            body: `<table>${'<tr>'.concat('<td colspan=1000 rowspan=1000>x'.repeat(10)).repeat(1000 * n)}</table>`,
        }),
        VARIANT,
    ),
    row(
        'takes each item of microdata in items in items',
        (n) => ({
            response: { type: 'html', select: { a: [{ microdata: 'X' }] } },
            contentType: 'text/html',
            body: '<div itemscope itemtype="X" itemprop="a">'.repeat(3000 * n),
        }),
        VARIANT,
    ),
];
