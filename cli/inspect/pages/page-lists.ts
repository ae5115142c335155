import type { CheerioAPI } from 'cheerio';
import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import { isAuthorsName, namedByAuthor } from '../words/author-names.ts';
import { fieldsOf, MAX_INSIDE, MIN_SHARE } from './list-fields.ts';
import { classesOf, findIn, lineOf, type Node, tagOf } from './page-elements.ts';

/** A list on a page: sibling elements of one kind. It contains selectors only, no text of the page. */
export interface PageList {
    selector: string;
    /** `select` entries for its items, by field name. Empty for a list of plain texts. */
    fields: Map<string, JsonObject>;
    /** The attribute to select if the items are links. */
    attribute: string | undefined;
    items: number;
    weight: number;
}

const MAX_PARENTS = 2500;
const MAX_COLUMNS = 60;
/** At most this many groups of siblings are examined. */
const MAX_GROUPS = 12;
const MAX_ITEMS = 40;
const MAX_LISTS = 3;
/** The least share of a page's text in a list of blocks. Blocks may look alike without being a list. */
const MIN_BLOCK_SHARE = 0.15;
/** The least share of a page's text in a list of rows or list entries. */
const MIN_ROW_SHARE = 0.05;

type Element = Extract<Node, { attribs: object }>;

/** Names of navigation and other parts that all pages of a site share. */
const CHROME =
    /(?:^|[-_\s])(?:nav|navbar|navigation|\w*menu|breadcrumbs?|footer|sidebar|pagination|pager|paging|toolbar|tabs?|hidden)(?:$|[-_\s])/i;

/** Finds at most three lists on a page, the one with the most text first. Form options, menus and footers do not count. */
export function listsOf($: CheerioAPI): PageList[] {
    const body = contentOf($);
    if (body === undefined) return [];
    const page = measure(body);
    const all = page.sizes.get(body)?.text ?? 0;
    const groups = [...page.content]
        .flatMap((parent) => siblingsIn($, parent).map((items) => ({ parent, items, text: textOf(items, page) })))
        .filter(
            ({ text, items, parent }) =>
                (text >= all * leastShare($, items) || (tagOf($(items.slice(0, 1))) === 'tr' && hasHeadings($, parent))) &&
                (page.sizes.get(items[0] as Node)?.nodes ?? 0) <= MAX_INSIDE * 4,
        )
        .sort((a, b) => b.text - a.text)
        .slice(0, MAX_GROUPS);
    const found = new Map<string, PageList>();
    for (const { parent, items } of groups) {
        const list = listOf($, parent, items, page);
        if (list !== undefined && !found.has(list.selector)) found.set(list.selector, list);
    }
    return [...found.values()].sort((a, b) => b.weight - a.weight).slice(0, MAX_LISTS);
}

/** The main part of a page if its author marked one, otherwise the complete page. */
function contentOf($: CheerioAPI): Node | undefined {
    const main = $('main, [role="main"]');
    return main.length === 1 && lineOf(main.text()) !== '' ? main.get(0) : $('body').get(0);
}

function leastShare($: CheerioAPI, [first]: readonly Node[]): number {
    return first !== undefined && /^(?:tr|li|article|a)$/.test(tagOf($(first))) ? MIN_ROW_SHARE : MIN_BLOCK_SHARE;
}

/** Text and size of each element, and the elements outside of navigation that have several children. */
interface Measured {
    sizes: Map<Node, { text: number; nodes: number }>;
    content: Set<Node>;
    /** The outermost elements of navigation and similar parts. */
    chrome: Set<Node>;
}

/** Measures a page in one pass, without recursion since pages may be deeply nested. */
function measure(body: Node): Measured {
    const page: Measured = { sizes: new Map(), content: new Set(), chrome: new Set() };
    const stack: { node: Node; isChrome: boolean; isLeft: boolean }[] = [{ node: body, isChrome: false, isLeft: false }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
        const { node, isLeft } = top;
        const inside = 'children' in node ? node.children : [];
        if (isLeft) {
            const size = { text: 0, nodes: 1 };
            for (const child of inside) {
                if (child.type === 'tag' && page.chrome.has(child as Node)) continue;
                if (child.type === 'text') size.text += child.data.replaceAll(/\s+/g, ' ').trim().length;
                const own = page.sizes.get(child as Node);
                size.text += own?.text ?? 0;
                size.nodes += own?.nodes ?? 0;
            }
            page.sizes.set(node, size);
            continue;
        }
        const startsHere = !top.isChrome && node !== body && startsChrome(node);
        if (startsHere) page.chrome.add(node);
        const isChrome = top.isChrome || startsHere;
        stack.push({ node, isChrome, isLeft: true });
        const elements = inside.filter((child) => child.type === 'tag') as Node[];
        if (!isChrome && (elements.length > 1 || isBody(node)) && page.content.size < MAX_PARENTS) page.content.add(node);
        for (const node of elements) stack.push({ node, isChrome, isLeft: false });
    }
    return page;
}

/** The body of a table may have one row. */
function isBody(node: Node): boolean {
    return 'name' in node && node.name === 'tbody';
}

function startsChrome(node: Node): boolean {
    if (!('attribs' in node)) return false;
    const { name, attribs } = node;
    return (
        /^(?:nav|footer|dialog|select|datalist|thead|svg|pre|code|head)$/.test(name) ||
        /^(?:navigation|dialog)$/.test(attribs['role'] ?? '') ||
        attribs['hidden'] !== undefined ||
        /display:\s*none/i.test(attribs['style'] ?? '') ||
        startsHeader(node) ||
        CHROME.test(`${attribs['class'] ?? ''} ${attribs['id'] ?? ''}`)
    );
}

/**
 * The head of a page with a menu directly inside: entries that are short links and nothing else. Heads of lists and of their items may have
 * lists too; a list of links below a heading is one to read.
 */
function startsHeader(node: Node): boolean {
    if (!('attribs' in node) || !/^(?:header|div)$/.test(node.name)) return false;
    const isHeader =
        node.name === 'header' || /(?:^|[-_\s])header(?:$|\s)/i.test(`${node.attribs['class'] ?? ''} ${node.attribs['id'] ?? ''}`);
    const inside = isHeader ? elementsIn(node) : [];
    return inside.some(isMenu) && !inside.some(({ name }) => /^h[2-6]$/.test(name));
}

const MAX_MENU_TEXT = 40;

function isMenu(list: Element): boolean {
    return /^[uo]l$/.test(list.name) && elementsIn(list).every(isShortLink);
}

/** Whether an element holds one link with a short text, which may have an icon. */
function isShortLink(entry: Element): boolean {
    const [link, ...others] = entry.children.filter((child) => child.type !== 'text' || child.data.trim() !== '');
    if (link?.type !== 'tag' || link.name !== 'a' || others.length > 0) return false;
    const texts = [link, ...elementsIn(link)].flatMap(({ children }) => children.map((child) => (child.type === 'text' ? child.data : '')));
    return lineOf(texts.join('')).length <= MAX_MENU_TEXT && elementsIn(link).every((inside) => elementsIn(inside).length === 0);
}

function elementsIn({ children }: Element): Element[] {
    return children.filter((child) => child.type === 'tag') as Element[];
}

function textOf(items: readonly Node[], { sizes }: Measured): number {
    return items.reduce((sum, item) => sum + Math.min(sizes.get(item)?.text ?? 0, 400), 0);
}

/** Children of the same kind: rows, list entries, or blocks with a common class. */
function siblingsIn($: CheerioAPI, parent: Node): Node[][] {
    const kinds = new Map<string, Node[]>();
    for (const child of $(parent).children().toArray()) {
        const element = $(child);
        const tag = tagOf(element);
        if (/^(?:script|style|br|hr|option|td|th|col|colgroup|input|label|template|link|meta)$/.test(tag)) continue;
        if (tag === 'tr' && (element.children('td').length === 0 || leadsUp(element.find('a[href]')))) continue;
        const kind = /^(?:tr|li|article|dt|dd)$/.test(tag) ? tag : `${tag}.${classesOf(element)[0] ?? ''}`;
        // A block with a name of its own is a part of the page.
        if (kind.endsWith('.') && /^[A-Za-z_-]+$/.test(element.attr('id') ?? '')) continue;
        getOrMake(kinds, kind, () => []).push(child);
    }
    const isHeaded = kinds.has('tr') && hasHeadings($, parent);
    return [...kinds]
        .filter(([kind, nodes]) => nodes.length >= (isHeaded ? 1 : leastOf(kind)))
        .map(([, nodes]) => nodes)
        .map((nodes) => withoutStrays($, nodes) ?? nodes);
}

/** Whether the only link leads to the folder above. */
function leadsUp(links: ReturnType<CheerioAPI>): boolean {
    return links.length === 1 && /^\.\.\/?$/.test(links.attr('href') ?? '');
}

/**
 * The items among siblings that are not all items, such as event rows with date rows between them, and empty rows. Items are the siblings
 * with an element that most of them have, if the other siblings contain little text.
 */
function withoutStrays($: CheerioAPI, nodes: readonly Node[]): Node[] | undefined {
    const filled = nodes.filter((node) => lineOf($(node).text()) !== '' || findIn($(node), 'img, a[href]').length > 0);
    const least = filled.length > 0 && filled.length < nodes.length ? filled : undefined;
    const looked = filled.slice(0, MAX_ITEMS);
    const holding = Map.groupBy(
        looked.flatMap((node) => [...marksIn($, node)].map((mark) => ({ node, mark }))),
        ({ mark }) => mark,
    );
    for (const [mark, found] of [...holding].sort(([, a], [, b]) => b.length - a.length)) {
        if (found.length < 2 || found.length < looked.length * MIN_SHARE) return least;
        if (found.length === looked.length) continue;
        const items = filled.filter((node) => findIn($(node), mark).length > 0);
        const usual = items.map((node) => findIn($(node), '*').length).sort((a, b) => a - b)[Math.floor(items.length / 2)] ?? 0;
        const known = new Set(items);
        const others = filled.filter((node) => !known.has(node));
        if (others.every((node) => findIn($(node), '*').length <= usual / 2 || isPlain($, node))) return items;
    }
    return least;
}

/** What distinguishes an item from another row: links, and classes of its elements. */
function marksIn($: CheerioAPI, node: Node): Set<string> {
    const inside = findIn($(node), '*').toArray().slice(0, MAX_INSIDE);
    const classes = inside.flatMap((one) => classesOf($(one)).map((name) => `${tagOf($(one))}.${name}`));
    return new Set(inside.some((one) => tagOf($(one)) === 'a' && $(one).attr('href') !== undefined) ? [...classes, 'a[href]'] : classes);
}

/** Whether an element contains no link and no class, like a row of headings. */
function isPlain($: CheerioAPI, node: Node): boolean {
    return findIn($(node), '[class], a[href]').length === 0;
}

/** Whether the author named the columns of a table. Each row is then an item, even if rows are few and short. */
function hasHeadings($: CheerioAPI, parent: Node): boolean {
    const table = $(parent).closest('table');
    const head = table.children('thead').first().children('tr').first();
    const first = table.children('tbody').first().children('tr').first();
    const row = head.length > 0 || first.children('td').length > 0 ? head : first;
    const cells = row.children('th').slice(0, MAX_COLUMNS).toArray();
    return cells.length > 1 && cells.some((cell) => namedByAuthor(lineOf($(cell).text())) !== undefined);
}

/** Two rows are a list. Two blocks may be neighbours for other reasons. */
function leastOf(kind: string): number {
    if (/^(?:tr|article|li)/.test(kind)) return 2;
    return kind.endsWith('.') ? 4 : 3;
}

function listOf($: CheerioAPI, parent: Node, siblings: readonly Node[], page: Measured): PageList | undefined {
    const selector = selectorOf($, parent, siblings, page);
    if (selector === undefined) return undefined;
    const items = $(selector).toArray();
    const looked = items.slice(0, MAX_ITEMS);
    const texts = looked.map((item) => lineOf($(item).text()));
    const filled = texts.filter((text) => text.length > 1);
    if (filled.length < looked.length * MIN_SHARE || new Set(filled).size < filled.length * 0.7) return undefined;
    const fields = fieldsOf($, looked);
    const isLink = looked.every((item) => tagOf($(item)) === 'a');
    const asks = looked.filter(
        (item) =>
            findIn($(item), 'input:not([type=hidden], [type=checkbox]), select, textarea').length > 0 &&
            findIn($(item), 'a[href]:not([href^="#"])').length === 0,
    ).length;
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

/** A selector for these elements and similar ones, made of tags, ids and author-chosen classes. */
function selectorOf($: CheerioAPI, parent: Node, items: readonly Node[], page: Measured): string | undefined {
    const [first] = items;
    if (first === undefined) return undefined;
    const tag = tagOf($(first));
    const shared = classesOf($(first)).filter((name) => items.every((item) => $(item).hasClass(name)));
    for (const name of shared) {
        const everywhere = $(`${tag}.${name}`).toArray();
        const strays = everywhere.filter((one) => one.parent === parent && !items.includes(one));
        const mark = strays.length === 0 ? undefined : markAgainst($, items, strays);
        const marked = `${tag}.${name}:has(${mark})`;
        if (mark !== undefined && isSame($, marked, items)) return marked;
        if (everywhere.length === items.length || everywhere.every((one) => one.parent !== null && page.content.has(one.parent as Node)))
            return `${tag}.${name}`;
    }
    const isTable = tag === 'tr';
    for (const own of namesOf($, items)) {
        const found = chainOf($, parent, items, { own, isTable });
        if (found !== undefined) return found;
    }
    return undefined;
}

/** A class or element that all items contain and none of the strays does. */
function markAgainst($: CheerioAPI, items: readonly Node[], strays: readonly Node[]): string | undefined {
    const has = (node: Node, mark: string) => findIn($(node), mark).length > 0;
    return [...marksIn($, items[0] as Node)].find(
        (mark) => items.every((item) => has(item, mark)) && !strays.some((stray) => has(stray, mark)),
    );
}

/** Names for elements without a common class: the tag, and what distinguishes them from their siblings. */
function namesOf($: CheerioAPI, items: readonly Node[]): string[] {
    const [first] = items;
    if (first === undefined) return [];
    const tag = tagOf($(first));
    const bare = tag === 'tr' ? 'tr:has(td)' : tag;
    const marks = [...marksIn($, first)].filter((mark) => items.every((item) => findIn($(item), mark).length > 0)).slice(0, MAX_MARKS);
    const classless = items.every((item) => $(item).attr('class') === undefined) ? [`${tag}:not([class])`] : [];
    return [bare, ...classless, ...marks.map((mark) => `${tag}:has(${mark})`)];
}

const MAX_MARKS = 6;

/** A selector for these elements: their name below the nearest element that an author named. */
function chainOf(
    $: CheerioAPI,
    parent: Node,
    items: readonly Node[],
    { own, isTable }: { own: string; isTable: boolean },
): string | undefined {
    let chain = own;
    for (let at = $(parent), level = 0; at.length > 0 && level < 8; at = at.parent(), level++) {
        const here = tagOf(at);
        if (isTable && /^(?:tbody|tfoot)$/.test(here)) continue;
        const id = at.attr('id');
        const before = at.prev('h1, h2, h3, h4, h5, h6').attr('id');
        const anchors = [
            ...(id !== undefined && isAuthorsName(id) ? [`#${id}`] : []),
            ...classesOf(at).map((name) => `${here}.${name}`),
            ...(/^(?:main|body|table|article)$/.test(here) ? [here] : []),
            ...(before !== undefined && isAuthorsName(before) ? [`#${before} + ${here}`] : []),
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

/** Whether a selector finds exactly these elements. */
function isSame($: CheerioAPI, selector: string, items: readonly Node[]): boolean {
    return $(selector).length === items.length;
}
