import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { openSite, type Site } from './sites.ts';

/** A shop on loopback. The path of a request selects its behaviour. */
export interface Shop extends Site {
    /** Resolves when this many requests wait at `/held`. */
    waiting(count: number): Promise<void>;
    /** Answers all of them. */
    letGo(): void;
}

export const SHOP = 'shop.test';

/** Hosts for the config of a world, so that the shop's name resolves to loopback. */
export const SHOP_HOSTS: ReadonlyMap<string, readonly string[]> = new Map([
    [SHOP, ['127.0.0.1']],
    ['dear.test', ['127.0.0.1']],
    ['blocked.test', ['127.0.0.1']],
    ['inside.test', ['10.0.0.1']],
]);

/** Opens a shop before the tests of a suite and closes it after them. It is empty until then. Call it after `useWorld`, which needs it to the end. */
export function useShop(): Shop {
    const shop = {} as Shop;
    before(async () => {
        Object.assign(shop, await openShop());
    });
    after(() => shop.close());
    return shop;
}

export async function openShop(): Promise<Shop> {
    const held = new Set<ServerResponse>();
    const arrivals = new EventEmitter();
    const site = await openSite((request, response) => {
        const url = new URL(request.url ?? '/', 'http://shop.invalid');
        const [, first = '', second = ''] = url.pathname.split('/');
        if (first !== 'held') return answer({ first, second, url, request, response });
        held.add(response);
        response.on('close', () => held.delete(response));
        arrivals.emit('one');
    });
    return {
        ...site,
        async waiting(count) {
            while (held.size < count) await once(arrivals, 'one');
        },
        letGo() {
            for (const response of held) json(response, 200, { held: true });
        },
    };
}

interface Asked {
    /** The second part of the path. */
    second: string;
    url: URL;
    request: IncomingMessage & { text: string };
    response: ServerResponse;
}

const PAGES: Readonly<Record<string, (asked: Asked) => void>> = {
    products: ({ second, response }) => json(response, 200, { id: Number(second), title: `Product ${second}`, price: { amount: 10 } }),
    search: ({ url, response }) => {
        const length = Number(url.searchParams.get('n') ?? 3);
        json(response, 200, { products: Array.from({ length }, (_, index) => ({ id: index + 1 })) });
    },
    status: ({ second, response }) => json(response, Number(second), { status: Number(second) }),
    echo: ({ request, response }) => {
        const { method, url: path, headers, text: body } = request;
        json(response, 200, { method, path, headers, body });
    },
    broken: ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"half":'),
    html: ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE),
    // Only for members: others are redirected to the sign-in page.
    members: ({ response }) => response.writeHead(302, { location: '/login' }).end(),
    login: ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end(LOGIN),
    // A page with a sign-in form in its middle, which the title does not mention.
    wall: ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end(WALL),
    numbers: ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{ "id": 12345678901234567890 }'),
    list: ({ response }) => json(response, 200, [1, 2, 3]),
    text: ({ response }) => response.writeHead(200, { 'content-type': 'text/plain' }).end('just text'),
    empty: ({ response }) => response.writeHead(204).end(),
    cut: ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"a":1', () => response.destroy());
    },
};

function answer(asked: Asked & { first: string }): void {
    const page = PAGES[asked.first];
    if (page === undefined) json(asked.response, 404, { error: 'no such page' });
    else page(asked);
}

const LOGIN = '<title>Shop</title><h1>Sign in</h1><form method=post><input name=user><input type=password name=password></form>';

const WALL = '<title>Shop</title><h2>Members only</h2><form method=post><input type=password name=password><button>Sign in</button></form>';

const PAGE = `<!doctype html><html><head><title>The shop</title><meta name="description" content="All we have"></head>
<body><script>alert(1)</script><h1>Welcome</h1><ul><li class="item"><a href="/products/1">One</a></li><li class="item"><a href="/products/2">Two</a></li></ul></body></html>`;

function json(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The shop's package with its port. `site` may be any name that resolves to the shop. */
export function shopPackage(port: number, more: Partial<PackageDocument> = {}): PackageDocument {
    const { site = SHOP } = more;
    const base = `http://${site}:${port}`;
    const integer = { type: 'integer', minimum: 1 };
    const endpoints: PackageEndpoint[] = [
        {
            name: 'product',
            method: 'GET',
            url: `${base}/products/{id}`,
            params: [{ name: 'id', source: 'path', required: true, schema: integer }],
            response: { schema: { type: 'object', required: ['id'] } },
        },
        {
            name: 'search',
            kind: 'search',
            method: 'GET',
            url: `${base}/search`,
            params: [{ name: 'n', source: 'query', required: false, schema: { type: 'integer', minimum: 0 } }],
            response: { select: { items: 'products[].{id: id}' } },
            billing: { unit: 'result', results: 'items', max_results: 20 },
        },
        {
            name: 'status',
            method: 'GET',
            url: `${base}/status/{code}`,
            params: [{ name: 'code', source: 'path', required: true, schema: { type: 'integer' } }],
        },
        { name: 'held', method: 'GET', url: `${base}/held` },
        { name: 'held_write', method: 'POST', url: `${base}/held`, effect: 'write' },
        { name: 'broken', method: 'GET', url: `${base}/broken` },
        { name: 'cut', method: 'GET', url: `${base}/cut` },
        { name: 'page', kind: 'navigate', method: 'GET', url: `${base}/html` },
        {
            name: 'page_items',
            kind: 'navigate',
            method: 'GET',
            url: `${base}/html`,
            response: { type: 'html', select: { title: 'h1', items: [{ selector: '.item', value: { name: 'a' } }] } },
        },
        { name: 'list', method: 'GET', url: `${base}/list` },
        { name: 'text', method: 'GET', url: `${base}/text` },
        { name: 'empty', method: 'GET', url: `${base}/empty` },
        {
            name: 'strict',
            method: 'GET',
            url: `${base}/list`,
            response: { schema: { type: 'object', required: ['id'] } },
        },
        {
            name: 'order',
            method: 'POST',
            url: `${base}/echo/orders`,
            effect: 'write',
            params: [
                { name: 'product', source: 'body', required: true, schema: integer },
                { name: 'note', source: 'body', required: false },
                { name: 'quantity', source: 'body', required: false, schema: integer, default: 1 },
            ],
        },
        {
            name: 'graphql',
            method: 'POST',
            url: `${base}/echo/graphql`,
            effect: 'read',
            params: [
                { name: 'q', source: 'body', required: true, schema: { type: 'string' } },
                { name: 'page', source: 'body', required: false, schema: integer },
            ],
            body: { operationName: 'Search', variables: { q: '{q}', page: '{page}' } },
        },
        {
            name: 'echo',
            method: 'GET',
            url: `${base}/echo/{name}?fixed=1`,
            headers: { 'x-client': 'shop' },
            params: [
                { name: 'name', source: 'path', required: true, schema: { type: 'string' } },
                { name: 'tag', source: 'query', required: false, schema: { type: 'array', items: { type: 'string' } } },
            ],
        },
        {
            name: 'upload',
            method: 'POST',
            url: `${base}/echo/photos`,
            body_format: 'multipart',
            params: [
                { name: 'photo', source: 'body', required: true, schema: { format: 'file' } },
                { name: 'title', source: 'body', required: false, schema: { type: 'string' } },
            ],
        },
        { name: 'not_hosted', method: 'GET', url: `${base}/products/1`, hosted: false },
        {
            name: 'all_pages',
            kind: 'paginate',
            method: 'GET',
            url: `${base}/search`,
            response: { select: { items: 'products' } },
            pagination: { style: 'page', param: 'page', max_pages: 3 },
            params: [{ name: 'page', source: 'query', required: false, schema: integer }],
        },
    ];
    return { format: 'routebook/1', site, title: 'Test shop', intent_category: 'commerce/product-search', endpoints, ...more };
}
