import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';

export const SITE = 'bench.test';
/** A site of the same domain that requires a key. */
export const CONNECTED = `keyed.${SITE}`;

/** Host names that all resolve to the upstream. A worker keeps at most 256 connections to one name, and the memory scenario needs 1,000. */
const HOSTS = [SITE, ...Array.from({ length: 8 }, (_, index) => `h${index}.${SITE}`)];

/** EGRESS_HOSTS and EGRESS_ALLOW that allow calls to the upstream on this port and to nothing else on this machine. */
export function egressSettings(port: number): { EGRESS_HOSTS: string; EGRESS_ALLOW: string } {
    return { EGRESS_HOSTS: [...HOSTS, CONNECTED].map((host) => `${host}=127.0.0.1`).join(','), EGRESS_ALLOW: `127.0.0.1/32:${port}` };
}

/**
 * The package of the bench. `item`: params with schemas, and the JSON unchanged. `products`: select and a response schema, which the worker
 * runs in its threads. `slow_<ms>`: like `item`, from an upstream that takes this long. `wait_<n>`: like `item` after two seconds, each on
 * a different host name.
 */
export function benchPackage(port: number): PackageDocument {
    const waits = HOSTS.slice(1).map((host, index) => endpoint(`wait_${index}`, `http://${host}:${port}/slow/2000/items/{id}`));
    const products: PackageEndpoint = {
        ...endpoint('products', `http://${SITE}:${port}/items/{id}`),
        response: {
            type: 'json',
            select: { items: 'products[].{id: id, name: title, price: price.amount}' },
            schema: {
                type: 'object',
                required: ['items'],
                properties: {
                    items: {
                        type: 'array',
                        items: {
                            type: 'object',
                            required: ['id', 'name', 'price'],
                            properties: { id: { type: 'integer' }, name: { type: 'string' }, price: { type: 'number' } },
                        },
                    },
                },
            },
        },
    };
    return {
        format: 'routebook/1',
        site: SITE,
        title: 'Bench',
        description: 'What the bench calls.',
        intent_category: 'commerce/product-search',
        endpoints: [
            endpoint('item', `http://${SITE}:${port}/items/{id}`),
            products,
            endpoint('slow_50', `http://${SITE}:${port}/slow/50/items/{id}`),
            ...waits,
        ],
    };
}

/** The same call twice: `mine` sends the key, `item` does not. */
export function connectedPackage(port: number): PackageDocument {
    const item = endpoint('item', `http://${CONNECTED}:${port}/items/{id}`);
    return {
        format: 'routebook/1',
        site: CONNECTED,
        title: 'Bench with a key',
        description: 'What the bench calls with a connection.',
        intent_category: 'commerce/product-search',
        auth: [{ id: 'key', type: 'header', name: 'X-Api-Key' }],
        endpoints: [
            { ...item, auth: 'none' },
            { ...item, name: 'mine', auth: 'required' },
        ],
    };
}

function endpoint(name: string, url: string): PackageEndpoint {
    return {
        name,
        kind: 'api_call',
        description: 'One item.',
        method: 'GET',
        url,
        headers: { accept: 'application/json' },
        params: [
            {
                name: 'id',
                source: 'path',
                required: true,
                description: 'Number of the item.',
                schema: { type: 'integer', minimum: 1 },
                example: 1,
            },
            {
                name: 'q',
                source: 'query',
                required: false,
                description: 'Words to look for.',
                schema: { type: 'string', maxLength: 100, pattern: '^[a-z0-9 ]*$' },
            },
            {
                name: 'sort',
                source: 'query',
                required: false,
                description: 'The order.',
                schema: { type: 'string', enum: ['price', 'name'] },
                default: 'price',
            },
        ],
    };
}

/** Bodies of fetches that differ in their params. */
export function fetchBodies(...endpoints: string[]): string[] {
    return fetchBodiesOf(SITE, endpoints);
}

export function fetchBodiesOf(site: string, endpoints: readonly string[]): string[] {
    return Array.from({ length: 240 }, (_, index) =>
        JSON.stringify({ site, endpoint: endpoints[index % endpoints.length], params: { id: index + 1, q: `shoes size ${index}` } }),
    );
}
