import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PackageDocument, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';
import { openSite, type Site } from './sites.ts';

export const LIBRARY = 'library.test';
/** Host names that resolve to it. `branch` is a host of the same owner, `elsewhere.test` is not. */
export const LIBRARY_HOSTS: Readonly<Record<string, string>> = {
    [LIBRARY]: '127.0.0.1',
    [`branch.${LIBRARY}`]: '127.0.0.1',
    'elsewhere.test': '127.0.0.1',
};

/** Books on a page. */
const PAGE_SIZE = 3;

interface Asked {
    url: URL;
    host: string;
    request: IncomingMessage & { text: string };
    response: ServerResponse;
}

/** A library on loopback that lists its `books` (a query param of every list, 7 by default) page by page, in each style of pagination. */
export function openLibrary(): Promise<Site> {
    return openSite((request, response) => {
        const { host = '' } = request.headers;
        const url = new URL(request.url ?? '/', `http://${host}`);
        const show = LISTS[url.pathname];
        if (show === undefined) json(response, 404, { error: 'no such list' });
        else show({ url, host, request, response });
    });
}

const LISTS: Readonly<Record<string, (asked: Asked) => void>> = {
    '/pages': ({ url, response }) =>
        json(response, 200, { books: slice(url, (number(url, 'page', 1) - 1) * PAGE_SIZE), total: total(url) }),
    '/offsets': ({ url, response }) => json(response, 200, { items: slice(url, number(url, 'from', 0)) }),
    '/cursors': ({ url, response }) => {
        const from = number(url, 'after', 0);
        const isLast = from + PAGE_SIZE >= total(url);
        json(response, 200, { items: slice(url, from), paging: { next: isLast ? null : String(from + PAGE_SIZE) } });
    },
    // The cursor is in the body, and one page in between is empty.
    '/gaps': ({ url, request, response }) => {
        const { after = 0 } = JSON.parse(request.text) as { after?: number };
        const items = after === 1 ? [] : slice(url, after);
        json(response, 200, { items, next: after < 3 ? after + 1 : undefined });
    },
    '/links': ({ url, response }) => {
        const page = number(url, 'page', 1);
        const next = new URL(url);
        next.searchParams.set('page', String(page + 1));
        const isLast = page * PAGE_SIZE >= total(url);
        response.setHeader('link', `<${url.pathname}?page=1>; rel="first"${isLast ? '' : `, <${next.href}>; rel="next"`}`);
        json(response, 200, slice(url, (page - 1) * PAGE_SIZE));
    },
    // Two pages that link to each other.
    '/circle': ({ url, response }) => {
        const page = number(url, 'page', 1);
        response.setHeader('link', `</circle?page=${page === 1 ? 2 : 1}>; rel=next`);
        json(response, 200, [page]);
    },
    '/leads': ({ url, response }) => {
        response.setHeader('link', `<${url.searchParams.get('to')}>; rel=next`);
        json(response, 200, [1]);
    },
    '/html': ({ url, response }) => {
        const from = number(url, 'from', 0);
        const books = slice(url, from).map(({ id }) => `<li class="book">Book ${id}</li>`);
        const isLast = from + PAGE_SIZE >= total(url);
        html(response, `<ul>${books.join('')}</ul>${isLast ? '' : `<a class="next" href="/html?from=${from + PAGE_SIZE}">More</a>`}`);
    },
    '/breaks': ({ url, response }) => {
        const page = number(url, 'page', 1);
        if (page === Number(url.searchParams.get('at'))) json(response, Number(url.searchParams.get('status')), { error: 'broken' });
        else json(response, 200, { items: slice(url, (page - 1) * PAGE_SIZE) });
    },
    '/mixed': ({ url, response }) => {
        const page = number(url, 'page', 1);
        json(response, 200, { items: page === 2 ? [{ id: 'four' }] : page === 1 ? [{ id: 1 }, { id: 2 }] : [] });
    },
    '/huge': ({ url, response }) => json(response, 200, { items: [`${number(url, 'page', 1)}${'x'.repeat(3 * 1024 * 1024)}`] }),
    '/slow': ({ url, response }) => {
        if (number(url, 'page', 1) === 1) json(response, 200, { items: [1] });
    },
};

function total(url: URL): number {
    return number(url, 'books', 7);
}

function slice(url: URL, from: number): { id: number }[] {
    const length = Math.max(0, Math.min(PAGE_SIZE, total(url) - from));
    return Array.from({ length }, (_, place) => ({ id: from + place + 1 }));
}

function number(url: URL, name: string, otherwise: number): number {
    return Number(url.searchParams.get(name) ?? otherwise);
}

export function json(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function html(response: ServerResponse, body: string): void {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html><html><body>${body}</body></html>`);
}

const books: PackageParam = { name: 'books', source: 'query', required: false, schema: { type: 'integer', minimum: 0 } };
const ask = (name: string): PackageParam => ({ name, source: 'query', required: false });

/** The library's endpoints with its port. All have the kind `paginate`, unless their name says otherwise. */
export function libraryEndpoints(port: number, base = `http://${LIBRARY}:${port}`): PackageEndpoint[] {
    const pages: PackageEndpoint = {
        name: 'pages',
        kind: 'paginate',
        method: 'GET',
        url: `${base}/pages`,
        params: [books],
        response: { select: { items: 'books', total: 'total' }, schema: { required: ['items'] } },
        pagination: { param: 'page', max_pages: 5 },
    };
    const paginate = (name: string, more: Partial<PackageEndpoint>): PackageEndpoint => ({
        name,
        kind: 'paginate',
        method: 'GET',
        url: `${base}/${name}`,
        params: [books],
        ...more,
    });
    return [
        pages,
        { ...pages, name: 'pages_by_result', billing: { unit: 'result', results: 'items', max_results: 50 } },
        { ...pages, name: 'pages_of_api_call', kind: 'api_call' },
        { ...pages, name: 'few_pages', pagination: { param: 'page', max_pages: 2 } },
        {
            ...pages,
            name: 'at_most_four',
            response: { select: { items: 'books' }, schema: { properties: { items: { maxItems: 4 } } } },
        },
        paginate('offsets', { params: [books, ask('from')], pagination: { style: 'offset', param: 'from' } }),
        paginate('cursors', { pagination: { style: 'cursor', param: 'after', next: 'paging.next' } }),
        paginate('gaps', {
            method: 'POST',
            effect: 'read',
            params: [books, { name: 'after', source: 'body', required: false, schema: { type: 'integer' } }],
            pagination: { style: 'cursor', param: 'after', next: 'next' },
        }),
        paginate('links', { pagination: { style: 'link' } }),
        paginate('circle', { pagination: { style: 'link' } }),
        paginate('leads', { params: [ask('to')], pagination: { style: 'link' } }),
        paginate('html', {
            response: { type: 'html', select: { items: ['.book'] } },
            pagination: { style: 'cursor', param: 'from', next: 'a.next' },
        }),
        paginate('html_by_link', {
            url: `${base}/html`,
            response: { type: 'html', select: { items: ['.book'] } },
            pagination: { style: 'cursor', param: 'cursor', next: 'a.next' },
        }),
        paginate('breaks', { params: [ask('at'), ask('status')], pagination: { param: 'page' } }),
        paginate('mixed', {
            response: { schema: { properties: { items: { items: { properties: { id: { type: 'integer' } } } } } } },
            pagination: { param: 'page' },
        }),
        paginate('listless', { url: `${base}/pages`, pagination: { param: 'page' } }),
        paginate('bad_cursor', { url: `${base}/cursors`, pagination: { style: 'cursor', param: 'after', next: 'paging' } }),
        paginate('huge', { pagination: { param: 'page', max_pages: 20 } }),
        paginate('slow', { pagination: { param: 'page' } }),
    ];
}

export function libraryPackage(port: number, more: Partial<PackageDocument> = {}): PackageDocument {
    return {
        format: 'routebook/1',
        site: LIBRARY,
        title: 'Test library',
        intent_category: 'knowledge/books',
        endpoints: libraryEndpoints(port),
        ...more,
    };
}
