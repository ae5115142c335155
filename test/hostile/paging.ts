import { type HostilePackage, row } from './packages.ts';

const PAGES = 20;
const MIB = 1024 * 1024;
const query = (path: string) => new URL(path, 'http://a').searchParams;
/** The cursor in a path. Its length says which page it is. */
const cursorOf = (path: string) => query(path).get('after') ?? '';
const byCursor = { style: 'cursor', param: 'after', next: 'next', max_pages: PAGES };
const long = (bytes: number) => 'x'.repeat(Math.round(bytes));

/** Paginated fetches that a site makes as long as it can. */
export const PAGING_PACKAGES: readonly HostilePackage[] = [
    row(
        'names a cursor that is twice as long on each page',
        (n) => ({
            pagination: byCursor,
            ...paged((path) => ({ items: [cursorOf(path).length], next: long(Math.min(4 * MIB, 2 * cursorOf(path).length || 500 * n)) })),
        }),
        // No server accepts such a URL.
        { code: 'UPSTREAM_STATUS', isVariant: true },
    ),
    row('has pages of some MiB, each with one thing, counted by number', (n) => ({
        pagination: { style: 'page', param: 'page', max_pages: PAGES },
        ...paged((path) => ({ items: [{ page: query(path).get('page'), text: long(2 * MIB * n) }] })),
    })),
    row(
        'has pages of some MiB behind cursors without end',
        (n) => ({
            pagination: byCursor,
            ...paged((path) => ({ items: [`${cursorOf(path)}${long(2 * MIB * n)}`], next: `${cursorOf(path)}c` })),
        }),
        { isVariant: true },
    ),
    row('selects what takes long from each of its pages', (n) => ({
        pagination: byCursor,
        response: { type: 'json', select: { items: 'items', turned: `text|${Array.from({ length: 4 }, () => 'reverse(@)').join('|')}` } },
        ...paged((path) => ({ items: [cursorOf(path).length], text: long(2 * MIB * n), next: `${cursorOf(path)}c` })),
    })),
];

/** The first page, and those after it. */
function paged(pageAt: (path: string) => object): { body: string; bodyAt(path: string): string } {
    return { body: JSON.stringify(pageAt('/bomb')), bodyAt: (path) => JSON.stringify(pageAt(path)) };
}
