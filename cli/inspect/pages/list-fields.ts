import type { CheerioAPI } from 'cheerio';
import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import { isAuthorsName, namedByAuthor } from '../words/author-names.ts';
import { hashOf } from '../words/values.ts';
import { classesOf, type Elements, findIn, lineOf, type Node, tagOf } from './page-elements.ts';

/** At most this many elements of an item are read. */
export const MAX_INSIDE = 60;
const MAX_FIELDS = 10;
/** The share of items that must have a field. */
export const MIN_SHARE = 0.6;

interface Seen {
    entry: JsonObject;
    wanted: string;
    /** Hashes of the values, one per item that has the field. */
    values: number[];
    rank: number;
    isColumn: boolean;
    isSpare: boolean;
}

/** Finds the fields that most items have and that differ between items. */
export function fieldsOf($: CheerioAPI, items: readonly Node[]): Map<string, JsonObject> {
    const headings = tagOf($(items.slice(0, 1))) === 'tr' ? headingsOf($, items[0]) : [];
    const seen = new Map<string, Seen>();
    for (const item of items) {
        const here = new Set<string>();
        for (const { entry, wanted, value, rank, isColumn = false, isSpare = false } of valuesIn($, item, headings)) {
            const key = JSON.stringify(entry);
            if (here.has(key) || value === '') continue;
            here.add(key);
            getOrMake(seen, key, () => ({ entry, wanted, values: [], rank, isColumn, isSpare })).values.push(hashOf(value));
        }
    }
    const fields = new Map<string, JsonObject>();
    const used = new Set<string>();
    for (const { entry, wanted, values, isColumn, isSpare } of [...seen.values()].sort((a, b) => a.rank - b.rank)) {
        const column = values.join(' ');
        const isTelling = values.length >= items.length * MIN_SHARE && (items.length === 1 || new Set(values).size > 1);
        if (!(isColumn || isTelling) || used.has(column) || fields.size >= MAX_FIELDS || (isSpare && fields.has(wanted))) continue;
        used.add(column);
        fields.set(freeName(wanted, fields), entry);
    }
    return fields;
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
    for (let count = 1; ; count++) {
        const name = count === 1 ? wanted : `${wanted}_${count}`;
        if (!taken.has(name)) return name;
    }
}

function headingsOf($: CheerioAPI, row: Node | undefined): string[] {
    const table = $(row === undefined ? [] : [row]).closest('table');
    const first = findIn(table, 'tr').first();
    // In a row with data cells, the `th` names the item of the row.
    if (first.children('td').length > 0) return [];
    const cells = first.children('th').toArray();
    return cells.map((cell) => namedByAuthor(lineOf($(cell).text())) ?? '');
}

interface Value {
    entry: JsonObject;
    wanted: string;
    value: string;
    /** Whether the author named it as a column. It is then a field, even if it is often empty or always the same. */
    isColumn?: boolean;
    /** Used only for items that have no other field of this name. */
    isSpare?: boolean;
    /** Lowest first: texts of links, then columns and classes, then other elements. */
    rank: number;
}

function* valuesIn($: CheerioAPI, item: Node, headings: readonly string[]): Generator<Value> {
    const root = $(item);
    const inside = ownElements($, root).slice(0, MAX_INSIDE);
    const isRow = tagOf(root) === 'tr';
    const links = inside.filter((node) => tagOf($(node)) === 'a' && $(node).attr('href') !== undefined && lineOf($(node).text()) !== '');
    const first = links.slice(0, MAX_LINKS).sort((a, b) => weightOfLink($, b) - weightOfLink($, a))[0];
    if (first !== undefined) {
        const link = $(first);
        const column = headings[placeInRow($, first, item)];
        const title = column || (headings.includes('title') ? 'name' : 'title');
        const url = { wanted: 'url', value: link.attr('href') ?? '' };
        for (const [place, selector] of (isRow ? [`${cellOf($, first, item)} a[href]`] : selectorsOfLink(link, root)).entries()) {
            yield { entry: { selector }, wanted: title, value: lineOf(link.text()), rank: place / 10, isSpare: place > 0 };
            yield { entry: { selector, value: 'href' }, ...url, rank: 1 + place / 10, isSpare: place > 0 };
        }
    }
    if (isRow) {
        const isNamed = isPair(root);
        for (const [place, cell] of root.children().slice(0, MAX_INSIDE).toArray().entries()) {
            const tag = tagOf($(cell));
            if (tag !== 'td' && tag !== 'th') continue;
            const named = headings[place] || nameByClass($(cell));
            const isColumn = named !== undefined && named !== '' && findIn($(cell), 'a[href]').length < 2;
            const wanted = named || (isNamed ? (tag === 'th' ? 'name' : 'value') : `column_${place + 1}`);
            yield { entry: { selector: `> ${tag}:nth-child(${place + 1})` }, wanted, value: lineOf($(cell).text()), rank: 2, isColumn };
        }
    }
    for (const node of inside) {
        const element = $(node);
        const tag = tagOf(element);
        const date = tag === 'time' ? element.attr('datetime') : undefined;
        if (date !== undefined)
            yield { entry: { selector: selectorInside(element, 'time', root), value: 'datetime' }, wanted: 'date', value: date, rank: 3 };
        const source = tag === 'img' ? element.attr('src') : undefined;
        if (source !== undefined && !source.startsWith('data:'))
            yield { entry: { selector: selectorInside(element, 'img', root), value: 'src' }, wanted: 'image', value: source, rank: 5 };
        const property = element.attr('itemprop');
        if (property !== undefined && isAuthorsName(property))
            yield { entry: { selector: `[itemprop="${property}"]` }, wanted: fieldName(property), value: lineOf(element.text()), rank: 3 };
        const name = nameByClass(element);
        if (isRow || name === undefined || node === first) continue;
        const isLeaf = findIn(element, '[class]').length === 0 || element.children().length === 0;
        if (isLeaf) yield { entry: { selector: selectorInside(element, tag, root) }, wanted: name, value: lineOf(element.text()), rank: 4 };
    }
    const bare = /^(?:h[1-6]|p|strong|b|dt|dd|em|small|code)$/;
    for (const node of isRow ? [] : inside) {
        const tag = tagOf($(node));
        if (bare.test(tag) && nameByClass($(node)) === undefined && findIn(root, tag).length === 1)
            yield { entry: { selector: tag }, wanted: /^h\d/.test(tag) ? 'heading' : 'text', value: lineOf($(node).text()), rank: 4 };
    }
}

/** The elements of an item, without those of a nested list, whose entries are items themselves. */
function ownElements($: CheerioAPI, item: Elements): Node[] {
    const all = findIn(item, '*');
    const nested = new Set(findIn(findIn(item, 'ul, ol'), '*').toArray());
    const own = all
        .not('ul, ol')
        .toArray()
        .filter((node) => !nested.has(node));
    return own.some((node) => lineOf($(node).text()) !== '') ? own : all.toArray();
}

/** Whether a row consists of a name and its value. */
function isPair(row: Elements): boolean {
    return row.children().length === 2 && tagOf(row.children().first()) === 'th';
}

const MAX_LINKS = 12;

/** How well the text of a link names an item. Titles name it; dates and buttons do not. */
function weightOfLink($: CheerioAPI, node: Node): number {
    const link = $(node);
    const names = `${link.attr('class') ?? ''} ${link.attr('itemprop') ?? ''} ${link.parent().attr('class') ?? ''}`;
    const isTitle = /title|name|headline|subject/i.test(names) || link.closest('h1, h2, h3, h4, h5, dt, th').length > 0;
    const isSmall = findIn(link, 'time').length > 0 || /date|time|author|user|tag|category|more|button|icon|edit/i.test(names);
    return (isTitle ? 4 : 0) - (isSmall ? 2 : 0) + Math.min(lineOf(link.text()).length, 60) / 60;
}

/** Selectors whose first match in an item is this link: by its class, by its place, or as the first link with a text. */
function selectorsOfLink(link: Elements, item: Elements): string[] {
    const place = link.parent().children('a').index(link) + 1;
    const [around] = classesOf(link.parent());
    const own = selectorInside(link, 'a[href]', item);
    const nearby = around === undefined ? [] : [`.${around} > a[href]`, `.${around} > a:nth-of-type(${place})`];
    return [...new Set([own, 'a[href]', ...nearby])].filter((selector) => findIn(item, selector).first().is(link)).slice(0, 2);
}

/** `a.name`, or the tag alone if the element has no class that an author chose. */
function selectorInside(element: Elements, bare: string, item: Elements): string {
    const [name] = classesOf(element);
    const tag = tagOf(element);
    if (name !== undefined && findIn(item, `${tag}.${name}`).length <= findIn(item, bare).length) return `${tag}.${name}`;
    return bare;
}

function placeInRow($: CheerioAPI, node: Node, row: Node): number {
    const cell = $(node).closest('td, th');
    return $(row).children().index(cell);
}

function cellOf($: CheerioAPI, node: Node, row: Node): string {
    return `> ${tagOf($(node).closest('td, th'))}:nth-child(${placeInRow($, node, row) + 1})`;
}

function nameByClass(element: Elements): string | undefined {
    const [name] = classesOf(element);
    return name === undefined ? undefined : fieldName(name);
}

/** `archive-article-title` → `title`, `postDate` → `date`: the last word says what the field is. */
function fieldName(name: string): string {
    const words = name
        .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .filter((word) => /[a-z]/.test(word));
    return words.slice(-1)[0]?.replace(/^[^a-z]+/, '') || 'text';
}
