import type { CheerioAPI } from 'cheerio';
import type { Json, JsonObject } from '../../shared/domain/types.ts';

type Matches = ReturnType<CheerioAPI>;

/**
 * The items of a type in a page (HTML, "Microdata"): `{"@type", name: value}`, repeated properties as lists.
 * @param name the type, or the last part of its address: `Product`
 * @param base the base of relative links
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

/** @param around the items that this one is in: by `itemref` an item could be in itself */
function itemOf(scope: Matches, base: string, around: readonly Node[] = []): JsonObject {
    const found = new Map<string, Json[]>();
    const items = [...around, ...scope];
    const seen = new Set<Node>(items);
    const visit = (nodes: Iterable<Node>): void => {
        for (const node of nodes) {
            if (seen.has(node)) continue;
            seen.add(node);
            const element = scope._make([node]);
            const isScope = element.attr('itemscope') !== undefined;
            const names = wordsOf(element, 'itemprop');
            if (names.length > 0) {
                // Read once: items in items with several names each would be read exponentially often.
                const value = isScope ? itemOf(element, base, items) : propertyOf(element, base);
                for (const name of names) {
                    const values = found.get(name);
                    if (values === undefined) found.set(name, [value]);
                    else values.push(value);
                }
            }
            if (!isScope) visit(element.children());
        }
    };
    visit(scope.children());
    visit(referredBy(scope));
    const [type] = typesOf(scope);
    const properties = [...found].map(([name, values]): [string, Json] => [name, values.length === 1 ? (values[0] ?? null) : values]);
    return Object.fromEntries([...(type === undefined ? [] : [['@type', lastPart(type)] as [string, Json]]), ...properties]);
}

/** The elements elsewhere in the page whose properties `itemref` adds to an item. */
function referredBy(scope: Matches): Node[] {
    const ids = wordsOf(scope, 'itemref');
    if (ids.length === 0) return [];
    const named = scope.parents().last().find('[id]').toArray();
    return ids.flatMap((id) => named.find(({ attribs }) => attribs['id'] === id) ?? []);
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
