import type { CheerioAPI } from 'cheerio';
import type { JsonObject } from '../../shared/domain/types.ts';
import { isAuthorsName, namedByAuthor } from './author-names.ts';
import { hashOf } from './values.ts';

type Elements = ReturnType<CheerioAPI>;
type Node = ReturnType<typeof elementsOf>[number];

function elementsOf($: CheerioAPI) {
    return $('*').toArray();
}

/** A list on a page: elements of one kind that follow each other, and what stands in each of them. No text of the page. */
export interface PageList {
    selector: string;
    /** What entries of `select` find in its items, by name; a list of bare texts has none. */
    fields: Map<string, JsonObject>;
    /** The attribute that is selected where the items are links themselves. */
    attribute: string | undefined;
    items: number;
    weight: number;
}

const MAX_PARENTS = 2500;
/** Groups of siblings that are looked at closely. */
const MAX_GROUPS = 12;
const MAX_ITEMS = 40;
const MAX_INSIDE = 60;
const MAX_FIELDS = 10;
const MOST_LISTS = 3;
/** Of all items, how many have to have a field, and how many have to differ. */
const MOSTLY = 0.6;
/** Of the text of a page, how much stands in its list. */
const MUCH = 0.15;

/** Parts of a page that are the same on all pages of its site. */
const CHROME =
    /(?:^|[-_\s])(?:nav|navbar|navigation|\w*menu|breadcrumbs?|footer|sidebar|pagination|pager|paging|toolbar|tabs?|hidden)(?:$|[-_\s])/i;

/** The lists of a page, the one with most of its text first: at most three. Forms to choose from, menus and footers are none. */
export function listsOf($: CheerioAPI): PageList[] {
    const body = $('body').get(0);
    if (body === undefined) return [];
    const page = measure(body);
    const least = (page.sizes.get(body)?.text ?? 0) * MUCH;
    const groups = [...page.content]
        .flatMap((parent) => siblingsIn($, parent).map((items) => ({ parent, items, text: textOf(items, page) })))
        .filter(({ text, items }) => text >= least && (page.sizes.get(items[0] as Node)?.nodes ?? 0) <= MAX_INSIDE * 4)
        .sort((a, b) => b.text - a.text)
        .slice(0, MAX_GROUPS);
    const found = new Map<string, PageList>();
    for (const { parent, items } of groups) {
        const list = listOf($, parent, items, page);
        if (list !== undefined && !found.has(list.selector)) found.set(list.selector, list);
    }
    return [...found.values()].sort((a, b) => b.weight - a.weight).slice(0, MOST_LISTS);
}

/** How much stands in each element of a page, and which of them have several others in them and are no chrome. */
interface Measured {
    sizes: Map<Node, { text: number; nodes: number }>;
    content: Set<Node>;
}

/** One pass over the page, whatever nests in it. */
function measure(body: Node): Measured {
    const page: Measured = { sizes: new Map(), content: new Set() };
    const stack: { node: Node; isChrome: boolean; isLeft: boolean }[] = [{ node: body, isChrome: false, isLeft: false }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
        const { node, isLeft } = top;
        const inside = 'children' in node ? node.children : [];
        if (isLeft) {
            const size = { text: 0, nodes: 1 };
            for (const child of inside) {
                if (child.type === 'text') size.text += child.data.replaceAll(/\s+/g, ' ').trim().length;
                const own = page.sizes.get(child as Node);
                size.text += own?.text ?? 0;
                size.nodes += own?.nodes ?? 0;
            }
            page.sizes.set(node, size);
            continue;
        }
        const isChrome = top.isChrome || (node !== body && startsChrome(node));
        stack.push({ node, isChrome, isLeft: true });
        const elements = inside.filter((child) => child.type === 'tag') as Node[];
        if (!isChrome && elements.length > 1 && page.content.size < MAX_PARENTS) page.content.add(node);
        for (const node of elements) stack.push({ node, isChrome, isLeft: false });
    }
    return page;
}

function startsChrome(node: Node): boolean {
    if (!('attribs' in node)) return false;
    const { name, attribs } = node;
    return (
        /^(?:nav|footer|select|datalist|thead|svg|pre|code|head)$/.test(name) ||
        attribs['role'] === 'navigation' ||
        attribs['hidden'] !== undefined ||
        /display:\s*none/i.test(attribs['style'] ?? '') ||
        CHROME.test(`${attribs['class'] ?? ''} ${attribs['id'] ?? ''}`)
    );
}

function textOf(items: readonly Node[], { sizes }: Measured): number {
    return items.reduce((sum, item) => sum + Math.min(sizes.get(item)?.text ?? 0, 400), 0);
}

/** Children that are of one kind: rows, entries of a list, or blocks with a class in common. */
function siblingsIn($: CheerioAPI, parent: Node): Node[][] {
    const kinds = new Map<string, Node[]>();
    for (const child of $(parent).children().toArray()) {
        const element = $(child);
        const tag = tagOf(element);
        if (/^(?:script|style|br|hr|option|td|th|col|colgroup|input|label|template|link|meta)$/.test(tag)) continue;
        if (tag === 'tr' && element.children('td').length === 0) continue;
        const kind = /^(?:tr|li|article|dt|dd)$/.test(tag) ? tag : `${tag}.${classesOf(element)[0] ?? ''}`;
        const alike = kinds.get(kind);
        if (alike === undefined) kinds.set(kind, [child]);
        else alike.push(child);
    }
    return [...kinds].filter(([kind, nodes]) => nodes.length >= leastOf(kind)).map(([, nodes]) => nodes);
}

/** Two rows are a list; two blocks may stand beside each other for other reasons. */
function leastOf(kind: string): number {
    if (/^(?:tr|article)/.test(kind)) return 2;
    return kind.endsWith('.') ? 4 : 3;
}

function listOf($: CheerioAPI, parent: Node, siblings: readonly Node[], page: Measured): PageList | undefined {
    const selector = selectorOf($, parent, siblings, page);
    if (selector === undefined) return undefined;
    const items = $(selector).toArray();
    const looked = items.slice(0, MAX_ITEMS);
    const texts = looked.map((item) => lineOf($(item).text()));
    const filled = texts.filter((text) => text.length > 1);
    if (filled.length < items.length * MOSTLY || new Set(filled).size < filled.length * 0.7) return undefined;
    const fields = fieldsOf($, looked);
    const isLink = looked.every((item) => tagOf($(item)) === 'a');
    const asks = looked.filter((item) => $(item).find('input:not([type=hidden], [type=checkbox]), select, textarea').length > 0).length;
    if (asks > looked.length / 2 || [...fields.keys()].every((name) => name.startsWith('column_')) === fields.size > 0) return undefined;
    if (fields.size === 0 && !isLink && !looked.every((item) => $(item).children().length === 0)) return undefined;
    const length = texts.reduce((sum, text) => sum + Math.min(text.length, 400), 0) * (items.length / looked.length);
    return {
        selector,
        fields,
        attribute: isLink ? 'href' : undefined,
        items: items.length,
        weight: length * (1 + Math.log2(items.length) / 8),
    };
}

/** A selector of these elements and others like them, made of tags, and of ids and classes that an author chose. */
function selectorOf($: CheerioAPI, parent: Node, items: readonly Node[], page: Measured): string | undefined {
    const [first] = items;
    if (first === undefined) return undefined;
    const tag = tagOf($(first));
    const shared = classesOf($(first)).filter((name) => items.every((item) => $(item).hasClass(name)));
    for (const name of shared) {
        const everywhere = $(`${tag}.${name}`).toArray();
        if (everywhere.length === items.length || everywhere.every((one) => one.parent !== null && page.content.has(one.parent as Node)))
            return `${tag}.${name}`;
    }
    const own = tag === 'tr' ? 'tr:has(td)' : tag;
    const isTable = tag === 'tr';
    let chain = own;
    for (let at = $(parent), level = 0; at.length > 0 && level < 8; at = at.parent(), level++) {
        const here = tagOf(at);
        if (isTable && /^(?:tbody|tfoot)$/.test(here)) continue;
        const id = at.attr('id');
        const anchors = [
            ...(id !== undefined && isAuthorsName(id) ? [`#${id}`] : []),
            ...classesOf(at).map((name) => `${here}.${name}`),
            ...(/^(?:main|body|table|article)$/.test(here) ? [here] : []),
        ];
        for (const anchor of anchors) {
            const selector = `${anchor}${isTable || level > 0 ? ' ' : ' > '}${chain}`;
            if (isSame($, selector, items)) return selector;
        }
        if (here === 'body') return undefined;
        if (!isTable || here === 'table') chain = `${here}${isTable ? ' ' : ' > '}${chain}`;
    }
    return undefined;
}

/** Whether a selector finds these, or these and as many again of the same kind. */
function isSame($: CheerioAPI, selector: string, items: readonly Node[]): boolean {
    return $(selector).length === items.length;
}

interface Seen {
    entry: JsonObject;
    wanted: string;
    /** Hashes of what was found, one for each item that has it. */
    values: number[];
    rank: number;
}

/** What stands in most of the items and differs among them. */
function fieldsOf($: CheerioAPI, items: readonly Node[]): Map<string, JsonObject> {
    const headings = tagOf($(items.slice(0, 1))) === 'tr' ? headingsOf($, items[0]) : [];
    const seen = new Map<string, Seen>();
    for (const item of items) {
        const here = new Set<string>();
        for (const { entry, wanted, value, rank } of valuesIn($, item, headings)) {
            const key = JSON.stringify(entry);
            if (here.has(key) || value === '') continue;
            here.add(key);
            const known = seen.get(key) ?? { entry, wanted, values: [], rank };
            known.values.push(hashOf(value));
            seen.set(key, known);
        }
    }
    const fields = new Map<string, JsonObject>();
    const said = new Set<string>();
    for (const { entry, wanted, values } of [...seen.values()].sort((a, b) => a.rank - b.rank)) {
        const column = values.join(' ');
        if (values.length < items.length * MOSTLY || new Set(values).size < 2 || said.has(column) || fields.size >= MAX_FIELDS) continue;
        said.add(column);
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
    const first = table.find('tr').first();
    // A row that holds data too has one of its things in its `th`.
    if (first.children('td').length > 0) return [];
    const cells = first.children('th').toArray();
    return cells.map((cell) => namedByAuthor(lineOf($(cell).text())) ?? '');
}

interface Value {
    entry: JsonObject;
    wanted: string;
    value: string;
    /** Texts of links first, then columns and classes, then what surrounds them. */
    rank: number;
}

function* valuesIn($: CheerioAPI, item: Node, headings: readonly string[]): Generator<Value> {
    const whole = $(item);
    const inside = whole.find('*').toArray().slice(0, MAX_INSIDE);
    const isRow = tagOf(whole) === 'tr';
    const links = inside.filter((node) => tagOf($(node)) === 'a' && $(node).attr('href') !== undefined && lineOf($(node).text()) !== '');
    const first = links.slice(0, MAX_LINKS).sort((a, b) => weightOfLink($, b) - weightOfLink($, a))[0];
    if (first !== undefined) {
        const link = $(first);
        const selector = isRow ? `${cellOf($, first, item)} a[href]` : selectorInside(link, 'a[href]', whole);
        const column = headings[placeInRow($, first, item)];
        yield { entry: { selector }, wanted: column || 'title', value: lineOf(link.text()), rank: 0 };
        yield { entry: { selector, value: 'href' }, wanted: 'url', value: link.attr('href') ?? '', rank: 1 };
    }
    if (isRow) {
        for (const [place, cell] of whole.children().toArray().entries()) {
            const tag = tagOf($(cell));
            if (tag !== 'td' && tag !== 'th') continue;
            const wanted = headings[place] || named($(cell)) || `column_${place + 1}`;
            yield { entry: { selector: `> ${tag}:nth-child(${place + 1})` }, wanted, value: lineOf($(cell).text()), rank: 2 };
        }
    }
    for (const node of inside) {
        const element = $(node);
        const tag = tagOf(element);
        const date = tag === 'time' ? element.attr('datetime') : undefined;
        if (date !== undefined)
            yield { entry: { selector: selectorInside(element, 'time', whole), value: 'datetime' }, wanted: 'date', value: date, rank: 3 };
        const source = tag === 'img' ? element.attr('src') : undefined;
        if (source !== undefined && !source.startsWith('data:'))
            yield { entry: { selector: selectorInside(element, 'img', whole), value: 'src' }, wanted: 'image', value: source, rank: 5 };
        const property = element.attr('itemprop');
        if (property !== undefined && isAuthorsName(property))
            yield { entry: { selector: `[itemprop="${property}"]` }, wanted: fieldName(property), value: lineOf(element.text()), rank: 3 };
        const name = named(element);
        if (isRow || name === undefined || node === first) continue;
        const isLeaf = element.find('[class]').length === 0 || element.children().length === 0;
        if (isLeaf)
            yield { entry: { selector: selectorInside(element, tag, whole) }, wanted: name, value: lineOf(element.text()), rank: 4 };
    }
    const bare = /^(?:h[1-6]|p|strong|b|dt|dd|em|small|code)$/;
    for (const node of isRow ? [] : inside) {
        const tag = tagOf($(node));
        if (bare.test(tag) && named($(node)) === undefined && whole.find(tag).length === 1)
            yield { entry: { selector: tag }, wanted: /^h\d/.test(tag) ? 'heading' : 'text', value: lineOf($(node).text()), rank: 4 };
    }
}

const MAX_LINKS = 12;

/** How well the text of a link says what an item is: titles do, dates and buttons do not. */
function weightOfLink($: CheerioAPI, node: Node): number {
    const link = $(node);
    const names = `${link.attr('class') ?? ''} ${link.attr('itemprop') ?? ''} ${link.parent().attr('class') ?? ''}`;
    const isTitle = /title|name|headline|subject/i.test(names) || link.closest('h1, h2, h3, h4, h5, dt').length > 0;
    const isSmall = link.find('time').length > 0 || /date|time|author|user|tag|category|more|button|icon|edit/i.test(names);
    return (isTitle ? 4 : 0) - (isSmall ? 2 : 0) + Math.min(lineOf(link.text()).length, 60) / 60;
}

/** `a.name`, or the tag alone where it has no class of an author. */
function selectorInside(element: Elements, bare: string, whole: Elements): string {
    const [name] = classesOf(element);
    const tag = tagOf(element);
    if (name !== undefined && whole.find(`${tag}.${name}`).length <= whole.find(bare).length) return `${tag}.${name}`;
    return bare;
}

function placeInRow($: CheerioAPI, node: Node, row: Node): number {
    const cell = $(node).closest('td, th');
    return $(row).children().index(cell);
}

function cellOf($: CheerioAPI, node: Node, row: Node): string {
    return `> ${tagOf($(node).closest('td, th'))}:nth-child(${placeInRow($, node, row) + 1})`;
}

function named(element: Elements): string | undefined {
    const [name] = classesOf(element);
    return name === undefined ? undefined : fieldName(name);
}

/** `archive-article-title` → `title`, `postDate` → `date`: the last word says what it is. */
function fieldName(name: string): string {
    const words = name
        .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .filter((word) => /[a-z]/.test(word));
    return words.slice(-1)[0]?.replace(/^[^a-z]+/, '') || 'text';
}

/** Classes that an author chose, and that do not say what state an element is in. */
function classesOf(element: Elements): string[] {
    return (element.attr('class') ?? '').split(/\s+/).filter((name) => isAuthorsName(name) && !STATES.test(name));
}

const STATES =
    /(?:^|[-_])(?:active|selected|current|first|last|odd|even|open|closed|new|visited|hover|hidden|visible|disabled|row\d*|col\d*|col-.*|clearfix|left|right|dark|light|alt)$/i;

function lineOf(text: string): string {
    return text.slice(0, 2000).replaceAll(/\s+/g, ' ').trim();
}

function tagOf(element: Elements): string {
    return String(element.prop('tagName') ?? '').toLowerCase();
}

/** What several pages of one route have in common: the list that stands on most of them. */
export interface ListFacts {
    pages: number;
    lists: Map<
        string,
        { pages: number; weight: number; attribute: string | undefined; fields: Map<string, { entry: JsonObject; pages: number }> }
    >;
}

/** Of a route without pages yet. */
export function openLists(): ListFacts {
    return { pages: 0, lists: new Map() };
}

const MOST_KEPT = 30;

/** Takes in the lists of one page. */
export function addLists(facts: ListFacts, lists: readonly PageList[]): void {
    facts.pages++;
    for (const { selector, fields, attribute, weight } of lists) {
        if (!facts.lists.has(selector) && facts.lists.size >= MOST_KEPT) continue;
        const known = facts.lists.get(selector) ?? { pages: 0, weight: 0, attribute, fields: new Map() };
        known.pages++;
        known.weight += weight;
        for (const [name, entry] of fields) {
            const field = known.fields.get(name);
            if (field === undefined) known.fields.set(name, { entry, pages: 1 });
            else if (JSON.stringify(field.entry) === JSON.stringify(entry)) field.pages++;
        }
        facts.lists.set(selector, known);
    }
}

/** Adds what `more` holds to `facts`. */
export function mergeLists(facts: ListFacts, more: ListFacts): void {
    facts.pages += more.pages;
    for (const [selector, list] of more.lists) {
        const known = facts.lists.get(selector);
        if (known === undefined) facts.lists.set(selector, list);
        else {
            known.pages += list.pages;
            known.weight += list.weight;
            for (const [name, field] of list.fields) {
                const same = known.fields.get(name);
                if (same === undefined) known.fields.set(name, field);
                else if (JSON.stringify(same.entry) === JSON.stringify(field.entry)) same.pages += field.pages;
            }
        }
    }
}

/** `select` of the list that most pages of a route have, or `undefined` where they have none in common. */
export function selectOf({ pages, lists }: ListFacts): JsonObject | undefined {
    const shared = [...lists]
        .filter(([, list]) => list.pages >= pages / 2)
        .sort(([, a], [, b]) => b.pages - a.pages || b.weight - a.weight);
    const [found] = shared;
    if (found === undefined) return undefined;
    const [selector, list] = found;
    const fields = [...list.fields].filter(([, field]) => field.pages >= list.pages / 2);
    if (fields.length > 0)
        return { items: [{ selector, value: Object.fromEntries(fields.map(([name, { entry }]) => [name, plainEntry(entry)])) }] };
    return list.attribute === undefined ? { items: [selector] } : { items: [selector], urls: [{ selector, value: list.attribute }] };
}

function plainEntry(entry: JsonObject) {
    const { selector, ...rest } = entry;
    return Object.keys(rest).length === 0 ? (selector ?? '') : entry;
}
