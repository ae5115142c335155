import type { CheerioAPI } from 'cheerio';
import type { AnyNode } from 'domhandler';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { InvalidResponse, TOO_MUCH_WORK } from './invalid-response.ts';
import { MAX_DEPTH } from './json.ts';

type Matches = ReturnType<CheerioAPI>;

/**
 * The items of a type in a page (HTML, "Microdata"): `{"@type", name: value}`, repeated properties as lists.
 * @param name the type, or the last part of its address: `Product`
 * @param base the base of relative links
 * @throws InvalidResponse if references lead to too many elements
 */
export function* microdataOf(within: Matches, name: string, base: string): Generator<Json[]> {
    for (const element of within.find('[itemscope][itemtype]')) {
        const scope = within._make([element]);
        if (typesOf(scope).some((type) => type === name || lastPart(type) === name)) yield [itemOf(scope, base)];
    }
}

function typesOf(scope: Matches): string[] {
    return wordsOf(scope, 'itemtype');
}

function wordsOf(element: Matches, attribute: string): string[] {
    return (element.attr(attribute) ?? '').split(/\s+/).filter((word) => word !== '');
}

function lastPart(type: string): string {
    return type.replace(/^.*[/#]/, '');
}

type Node = Matches[number];

/** Maximum number of elements of a page that are read through `itemref`: items that name each other would be read without end. */
const MAX_REFERRED = 100_000;

interface References {
    ids: ReadonlyMap<string, Node>;
    /** The number of elements that may still be read through them. */
    left: number;
}

/** By the root of the page. */
const known = new WeakMap<object, References>();

/**
 * @param around the items that this one is in: by `itemref` an item could be in itself
 * @param through the references of the page if one of them led to this item
 */
function itemOf(scope: Matches, base: string, around: readonly Node[] = [], through?: References): JsonObject {
    const found = new Map<string, Json[]>();
    const items = [...around, ...scope];
    const seen = new Set<Node>(items);
    const visit = (nodes: Iterable<Node>, via = through): void => {
        for (const node of nodes) {
            if (seen.has(node)) continue;
            seen.add(node);
            if (via !== undefined && (via.left-- <= 0 || items.length > MAX_DEPTH)) throw new InvalidResponse(TOO_MUCH_WORK);
            const element = scope._make([node]);
            const isScope = element.attr('itemscope') !== undefined;
            const names = wordsOf(element, 'itemprop');
            if (names.length > 0) {
                // Read once: items in items with several names each would be read exponentially often.
                const value = isScope ? itemOf(element, base, items, via) : propertyOf(element, base);
                for (const name of names) getOrMake(found, name, () => []).push(value);
            }
            if (!isScope) visit(element.children(), via);
        }
    };
    visit(scope.children());
    const refs = wordsOf(scope, 'itemref');
    if (refs.length > 0) {
        const page = referencesOf(scope);
        visit(
            refs.flatMap((id) => page.ids.get(id) ?? []),
            page,
        );
    }
    const [type] = typesOf(scope);
    const properties = [...found].map(([name, values]): [string, Json] => [name, values.length === 1 ? (values[0] ?? null) : values]);
    return Object.fromEntries([...(type === undefined ? [] : [['@type', lastPart(type)] as [string, Json]]), ...properties]);
}

/** The elements that `itemref` can name. The page is read once. */
function referencesOf(scope: Matches): References {
    let root = scope[0] as AnyNode;
    while (root.parent !== null) root = root.parent;
    return getOrMake(known, root, () => {
        const ids = new Map<string, Node>();
        for (const node of scope._make([root]).find('[id]')) {
            const { id = '' } = node.attribs;
            if (!ids.has(id)) ids.set(id, node);
        }
        return { ids, left: MAX_REFERRED };
    });
}

/** The attribute that holds the value of an element; a URL is made absolute. */
const VALUES: Readonly<Record<string, { name: string; isUrl: boolean }>> = {
    ...Object.fromEntries(['a', 'area', 'link'].map((tag) => [tag, { name: 'href', isUrl: true }])),
    ...Object.fromEntries(
        ['audio', 'embed', 'iframe', 'img', 'source', 'track', 'video'].map((tag) => [tag, { name: 'src', isUrl: true }]),
    ),
    object: { name: 'data', isUrl: true },
    data: { name: 'value', isUrl: false },
    meter: { name: 'value', isUrl: false },
    time: { name: 'datetime', isUrl: false },
};

function propertyOf(element: Matches, base: string): string {
    const content = element.attr('content');
    if (content !== undefined) return content;
    const place = VALUES[String(element.prop('tagName')).toLowerCase()];
    const written = place === undefined ? undefined : element.attr(place.name);
    if (place === undefined || written === undefined) return String(element.prop('textContent')).trim();
    return place.isUrl ? (URL.parse(written, base)?.href ?? written) : written;
}
