import type { JsonObject, PackageDocument } from '../../shared/domain/types.ts';
import { DEMO_SITE } from './site.ts';

const PRICE: JsonObject = { type: 'object', properties: { amount: { type: 'number' }, currency: { type: 'string' } } };

/** The schema of an answer with a list of items. */
function listOf(name: string, properties: JsonObject): JsonObject {
    return { type: 'object', required: [name], properties: { [name]: { type: 'array', items: { type: 'object', properties } } } };
}

/** The demo site's package, with the port on which the site listens. */
export function demoPackage(port: number): PackageDocument {
    const base = `http://${DEMO_SITE}:${port}`;
    return {
        format: 'routebook/1',
        site: DEMO_SITE,
        title: 'Demo shop',
        description: 'A small shop on this machine, for first steps: nothing leaves it.',
        intent_category: 'commerce/product-search',
        endpoints: [
            {
                name: 'product',
                kind: 'api_call',
                description: 'One product with its price and stock.',
                method: 'GET',
                url: `${base}/products/{id}`,
                params: [
                    {
                        name: 'id',
                        source: 'path',
                        required: true,
                        description: 'Number of the product.',
                        schema: { type: 'integer', minimum: 1 },
                        example: 1,
                    },
                ],
                response: {
                    schema: {
                        type: 'object',
                        required: ['id', 'title', 'price'],
                        properties: {
                            id: { type: 'integer' },
                            title: { type: 'string' },
                            section: { type: 'string' },
                            price: PRICE,
                            stock: { type: 'integer' },
                        },
                    },
                },
                examples: [{ params: { id: 1 } }],
            },
            {
                name: 'search_products',
                kind: 'search',
                description: 'Search the shop by words in the title, in one section or in all.',
                method: 'GET',
                url: `${base}/search`,
                params: [
                    {
                        name: 'q',
                        source: 'query',
                        required: true,
                        description: 'Words to look for.',
                        schema: { type: 'string', maxLength: 100 },
                        example: 'shoes',
                    },
                    {
                        name: 'section',
                        source: 'query',
                        required: false,
                        description: 'Only this section.',
                        schema: { type: 'string', enum: ['shoes', 'clothing', 'gear'] },
                    },
                ],
                response: {
                    select: { items: 'products[].{id: id, title: title, price: price.amount}' },
                    schema: listOf('items', { id: { type: 'integer' }, title: { type: 'string' }, price: { type: 'number' } }),
                },
                billing: { unit: 'result', results: 'items', max_results: 10 },
                examples: [{ params: { q: 'shoes' } }],
            },
            {
                name: 'front_page',
                kind: 'navigate',
                description: 'The front page: every product with its link.',
                method: 'GET',
                url: `${base}/`,
                response: {
                    type: 'html',
                    select: { title: 'h1', products: [{ selector: 'li', value: { name: 'a', price: 'b' } }] },
                    schema: listOf('products', { name: { type: 'string' }, price: { type: 'string' } }),
                },
                examples: [{ params: {} }],
            },
            {
                name: 'place_order',
                kind: 'api_call',
                description: 'Order a product.',
                method: 'POST',
                url: `${base}/orders`,
                effect: 'write',
                params: [
                    {
                        name: 'product_id',
                        source: 'body',
                        required: true,
                        description: 'Number of the product.',
                        schema: { type: 'integer', minimum: 1 },
                    },
                    {
                        name: 'quantity',
                        source: 'body',
                        required: false,
                        description: 'How many.',
                        schema: { type: 'integer', minimum: 1, maximum: 99 },
                        default: 1,
                    },
                ],
            },
        ],
    };
}
