import { readFileSync } from 'node:fs';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, PackageDocument, PackageEndpoint } from '../../../shared/domain/types.ts';
import { baseOf, loadHtml } from '../../../workers/select/html.ts';
import { selectHtml } from '../../../workers/select/select-html.ts';
import { pagesOf } from './kept-recordings.ts';

/** A list on recorded pages of one application, in the form of `test/fixtures/inspect/lists.json`. */
export interface TrueList {
    application: string;
    list: string;
    /** Pages with the list, its number of items, and texts of its first and its last item. */
    pages: { page: string; items: number; first: string[]; last: string[] }[];
}

/** All lists of the kept recordings. */
export function listsOfRecordings(): TrueList[] {
    return JSON.parse(readFileSync(new URL('../../fixtures/inspect/lists.json', import.meta.url), 'utf8')) as TrueList[];
}

/** Says why the `select` of a draft does not read a list on one of its pages; undefined if it reads it on all. */
export function listFault(document: PackageDocument, { application, pages }: TrueList): string | undefined {
    const recorded = pagesOf(application);
    for (const { page, items, first, last } of pages) {
        const found = recorded.find(({ url }) => url.replace(/^https?:\/\/[^/]+/, '') === page);
        if (found === undefined) throw new Error(`${application} has no recorded page ${page}`);
        const select = endpointAt(document, new URL(found.url.replaceAll(';', '&')))?.response?.select;
        if (!isObject(select)) return `${page} has no select`;
        const $ = loadHtml(found.html);
        const data = selectHtml($, select, baseOf($, found.url));
        const lists = Object.values(data).flatMap((list) => (Array.isArray(list) ? [list.map(textsOf)] : []));
        const isRight = (list: string[][]) => list.length === items && has(list[0], first) && has(list.at(-1), last);
        if (!lists.some(isRight))
            return `${page} gives ${lists.map((list) => `${list.length} of ${items}: ${list[0]?.join(', ')}`).join('; ')}`;
    }
    return undefined;
}

function has(texts: string[] | undefined, wanted: readonly string[]): boolean {
    return wanted.every((text) => texts?.some((one) => one.includes(text)) === true);
}

function textsOf(value: Json): string[] {
    if (typeof value === 'string' || typeof value === 'number') return [String(value)];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** The endpoint of a page's address. Of several matches, the one with the most fixed parts. */
function endpointAt({ endpoints }: PackageDocument, { origin, pathname, searchParams }: URL): PackageEndpoint | undefined {
    const fits = endpoints.filter(({ method, url }) => {
        const template = new URL(url.replaceAll(/\{[^{}]*\}/g, ANYTHING));
        const path = template.pathname.split('/');
        const pieces = pathname.split('/');
        return (
            method === 'GET' &&
            template.origin === origin &&
            path.length === pieces.length &&
            path.every((piece, place) => piece.includes(ANYTHING) || piece === pieces[place]) &&
            [...template.searchParams].every(([name, value]) => value === ANYTHING || searchParams.get(name) === value)
        );
    });
    return fits.sort((one, other) => fixedParts(other) - fixedParts(one))[0];
}

const ANYTHING = 'anything';

function fixedParts({ url }: PackageEndpoint): number {
    return url.split(/[/?&]/).filter((part) => !part.includes('{')).length;
}
