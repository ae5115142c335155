import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The name that workers use for the demo site. Only EGRESS_HOSTS resolves it, to loopback. */
export const DEMO_SITE = 'demo-shop.example';

const PRODUCTS: readonly { id: number; title: string; section: string; price: { amount: number; currency: string }; stock: number }[] = [
    ['Trail running shoes', 'shoes', 89.9, 14],
    ['Road running shoes', 'shoes', 109.5, 3],
    ['Leather boots', 'shoes', 149, 0],
    ['Wool socks', 'clothing', 12.5, 120],
    ['Rain jacket', 'clothing', 79.95, 22],
    ['Merino shirt', 'clothing', 59, 41],
    ['Head lamp', 'gear', 39.9, 67],
    ['Water bottle', 'gear', 18, 250],
    ['Trekking poles', 'gear', 64.5, 9],
    ['Day pack', 'gear', 99, 17],
].map(([title, section, amount, stock], index) => ({
    id: index + 1,
    title: String(title),
    section: String(section),
    price: { amount: Number(amount), currency: 'EUR' },
    stock: Number(stock),
}));

export interface DemoSite {
    port: number;
    /** The wanted port, if another program uses it. Undefined if the site got the wanted port. */
    taken: number | undefined;
    close(): Promise<void>;
}

/** A small shop on loopback: JSON to read, search and write, and an HTML page, so that a first fetch works offline. */
export async function openDemoSite(port: number): Promise<DemoSite> {
    const orders: { id: number; product_id: number; quantity: number }[] = [];
    const server = createServer((request, response) => {
        answer(request, response, orders).catch(() => response.destroy());
    });
    await listen(server, port);
    const { port: given } = server.address() as AddressInfo;
    return {
        port: given,
        taken: port !== 0 && given !== port ? port : undefined,
        close: () =>
            new Promise((resolve) => {
                server.close(() => resolve());
                server.closeAllConnections();
            }),
    };
}

/** Listens on the wanted port, or on a free one if the port is in use. */
async function listen(server: Server, port: number): Promise<void> {
    const tryPort = (wished: number) =>
        new Promise<void>((resolve, reject) => {
            server.once('error', reject);
            server.listen(wished, '127.0.0.1', () => {
                server.off('error', reject);
                resolve();
            });
        });
    await tryPort(port).catch(() => tryPort(0));
}

async function answer(request: IncomingMessage, response: ServerResponse, orders: { id: number; product_id: number; quantity: number }[]) {
    const url = new URL(request.url ?? '/', 'http://demo.invalid');
    const [, first, second] = url.pathname.split('/');
    if (request.method === 'GET' && first === '') return sendPage(response);
    if (request.method === 'GET' && first === 'products' && second !== undefined) {
        const product = PRODUCTS.find(({ id }) => String(id) === second);
        return product === undefined ? sendJson(response, 404, { error: 'no such product' }) : sendJson(response, 200, product);
    }
    if (request.method === 'GET' && first === 'search') return sendJson(response, 200, search(url.searchParams));
    if (request.method === 'POST' && first === 'orders') {
        const order = JSON.parse(await readText(request)) as { product_id: number; quantity: number };
        orders.push({ id: orders.length + 1, product_id: order.product_id, quantity: order.quantity });
        return sendJson(response, 201, orders.at(-1));
    }
    return sendJson(response, 404, { error: 'no such page' });
}

function search(query: URLSearchParams): object {
    const words = (query.get('q') ?? '').toLowerCase();
    const section = query.get('section');
    const products = PRODUCTS.filter(
        (product) => product.title.toLowerCase().includes(words) && (section === null || product.section === section),
    );
    return { total: products.length, products };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendPage(response: ServerResponse): void {
    const items = PRODUCTS.map(({ id, title, price }) => `<li><a href="/products/${id}">${title}</a> <b>${price.amount} EUR</b></li>`);
    response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        .end(
            `<!doctype html><html lang="en"><head><title>Demo shop</title><meta name="description" content="Everything for a day outside.">` +
                `</head><body><h1>Demo shop</h1><ul>${items.join('')}</ul></body></html>`,
        );
}

async function readText(request: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
}
