import type { CheerioAPI } from 'cheerio';
import { getOrMake } from '../../shared/domain/get-or-make.ts';

type Matches = ReturnType<CheerioAPI>;
type Node = Matches[number];

/** Finds elements inside others, such as the price inside each row of a list. */
export interface Finder {
    /** The matches of a selector inside one element, in order; with `isFirstAlone` at most the first. */
    find(within: Matches, selector: string, isFirstAlone: boolean): readonly Node[];
    /** The finder for elements that `find` returned for this selector. */
    inside(selector: string): Finder;
}

type ByRow = ReadonlyMap<Node, readonly Node[]>;

/**
 * Elements of a page for each row. With more, a look at all of them takes longer than a search in each row, which compiles the selector
 * each time.
 */
const ELEMENTS_PER_ROW = 50;

/**
 * Creates the finder for a page. For the rows of a long list it looks once at all elements of the page for a selector, and distributes the
 * matches to the rows.
 */
export function createFinder(root: Matches): Finder {
    let all: Matches | undefined;
    const matching = (selector: string): readonly Node[] => {
        all ??= root.find('*');
        return all.filter(selector).get();
    };
    const isLong = (rows: number): boolean => {
        all ??= root.find('*');
        return all.length <= ELEMENTS_PER_ROW * rows;
    };

    /** @param path the selector that finds the rows in the page: empty for the page itself, undefined if no selector does */
    const below = (path: string | undefined): Finder => {
        const inner = new Map<string, Finder>();
        const found = new Map<string, ByRow | undefined>();
        let rows: ReadonlySet<Node> | undefined;
        const matchesByRow = (selector: string): ByRow | undefined => {
            if (path === undefined || path === '') return undefined;
            if (found.has(selector)) return found.get(selector);
            rows ??= separateRows(matching(path), isLong);
            const isOnce = rows.size > 0 && isAppendable(selector) && !mayBeginAtRow(root._make([...rows]), selector);
            const made = isOnce ? byAncestor(matching(`${path} ${selector}`), rows) : undefined;
            found.set(selector, made);
            return made;
        };
        return {
            find(within, selector, isFirstAlone) {
                const [row] = within;
                if (row !== undefined && path !== '' && selector === ':scope') return [row];
                const byRow = matchesByRow(selector);
                if (row === undefined || byRow === undefined || rows?.has(row) !== true) return findIn(within, selector, isFirstAlone);
                const matches = byRow.get(row) ?? [];
                return isFirstAlone ? matches.slice(0, 1) : matches;
            },
            inside: (selector) =>
                getOrMake(inner, selector, () => {
                    const isPath = path !== undefined && isAppendable(selector) && !(path === '' && /^\s*>/.test(selector));
                    return below(isPath ? `${path} ${selector}`.trim() : undefined);
                }),
        };
    };
    return below('');
}

/** Pseudo-classes that depend on neither the row nor the other matches, unlike `:scope` and `:first`. */
const PSEUDO = String.raw`:(?:(?:first|last|only)-(?:child|of-type)|nth-(?:last-)?(?:child|of-type)\([^()]*\)|not\([^()\s:>+~]*\)|contains\([^()]*\)|empty)(?![\w-])`;
const APPENDABLE = new RegExp(String.raw`^\s*(?![\s+~])(?:[^,:()]|${PSEUDO})+$`, 'i');

/**
 * Whether a selector means the same behind the selector of the row as inside the row. Lists of selectors do not, nor do those for
 * siblings of the row.
 */
function isAppendable(selector: string): boolean {
    return APPENDABLE.test(selector.replaceAll(/\\.|"[^"]*"|'[^']*'/g, 'x'));
}

/** The part of a selector before its first combinator. */
const FIRST = /^\s*(?:\\.|"[^"]*"|'[^']*'|\[(?:"[^"]*"|'[^']*'|[^\]"'])*\]|\((?:"[^"]*"|'[^']*'|[^()"'])*\)|[^\s>+~])+/;

/** Whether the first part of a selector of several parts matches a row: inside a row, it may stand for the row itself. */
function mayBeginAtRow(rows: Matches, selector: string): boolean {
    const first = FIRST.exec(selector)?.[0] ?? '';
    return first.trim() !== '' && first.trim() !== selector.trim() && rows.filter(first).length > 0;
}

function findIn(within: Matches, selector: string, isFirstAlone: boolean): readonly Node[] {
    const found: Node[] = [];
    const value = (element: Node): void => {
        found.push(element);
    };
    // `extract` stops at the first match, `find` does not.
    within.extract({ it: isFirstAlone ? { selector, value } : [{ selector, value }] });
    return found;
}

/** The rows of a long list, of which none is inside another one; otherwise none. */
function separateRows(elements: readonly Node[], isLong: (rows: number) => boolean): ReadonlySet<Node> {
    const rows = new Set(elements);
    return isLong(rows.size) && elements.every((element) => ancestorIn(rows, element) === undefined) ? rows : new Set();
}

function byAncestor(elements: readonly Node[], rows: ReadonlySet<Node>): ByRow {
    const byRow = new Map<Node, Node[]>();
    for (const element of elements) {
        const row = ancestorIn(rows, element);
        if (row !== undefined) getOrMake(byRow, row, () => []).push(element);
    }
    return byRow;
}

function ancestorIn(rows: ReadonlySet<Node>, element: Node): Node | undefined {
    for (let here: Node | null = element.parent; here !== null; here = here.parent) if (rows.has(here)) return here;
    return undefined;
}
