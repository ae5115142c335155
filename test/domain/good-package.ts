import { checkPackage, type PackageContext, type PackageVerdict } from '../../shared/domain/package/rules.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';

/** A valid package that uses most of the format. Each call returns a new copy. */
export function goodPackage(): JsonObject {
    return {
        format: 'routebook/1',
        site: 'shop.example.com',
        title: 'Example Shop',
        description: 'Products and orders.\nTwo lines.',
        intent_category: 'commerce/product-search',
        pace: { requests_per_minute: 600 },
        endpoints: [
            {
                name: 'search_products',
                kind: 'search',
                description: 'Search the shop.',
                method: 'GET',
                url: 'https://api.shop.example.com/v2/{section}/items?lang=en',
                headers: { accept: 'application/json', 'x-requested-with': 'XMLHttpRequest' },
                params: [
                    {
                        name: 'section',
                        source: 'path',
                        required: true,
                        schema: { type: 'string', maxLength: 40 },
                        default: 'all',
                        example: 'shoes',
                    },
                    { name: 'q', source: 'query', required: true, description: 'Free words.', schema: { type: 'string', minLength: 1 } },
                    {
                        name: 'sizes',
                        source: 'query',
                        required: false,
                        schema: { type: 'array', items: { type: 'integer' } },
                        example: [38, 39],
                    },
                ],
                response: {
                    type: 'json',
                    select: { items: 'products[].{id: id, title: name, price: price.amount}' },
                    schema: { type: 'object', required: ['items'], properties: { items: { type: 'array' } } },
                },
                billing: { unit: 'result', results: 'items', max_results: 50 },
                pagination: { style: 'page', param: 'page', start: 1, step: 1, next: null, max_pages: 5 },
                examples: [{ params: { section: 'shoes', q: 'red' } }],
            },
            {
                name: 'order',
                method: 'POST',
                url: 'https://shop.example.com/graphql',
                headers: { 'content-type': 'application/json; charset=utf-8' },
                params: [
                    { name: 'sku', source: 'body', required: true },
                    { name: 'count', source: 'body', required: false, schema: { type: 'integer', minimum: 1 }, default: 1 },
                ],
                body: { query: 'mutation Order($sku: ID!) { order(sku: $sku) { id } }', variables: { sku: '{sku}', count: '{count}' } },
                prepare: null,
                effect: 'write',
            },
            {
                name: 'contact',
                kind: 'submit_form',
                method: 'POST',
                url: 'https://www.shop.example.com/contact',
                params: [{ name: 'message', source: 'body', required: true }],
                prepare: { url: 'https://www.shop.example.com/contact', form: 'form#contact' },
                response: {
                    type: 'html',
                    select: { notice: '.notice', links: [{ selector: 'a[href]', value: { href: { selector: 'a', value: 'href' } } }] },
                },
            },
            {
                name: 'list_reviews',
                kind: 'paginate',
                method: 'GET',
                url: 'https://shop.example.com/reviews',
                headers: { 'x-csrf-token': '{prepare.csrf}' },
                prepare: [
                    { url: 'https://shop.example.com/', extract: { csrf: { selector: 'meta[name=csrf]', value: 'content' } } },
                    { url: 'https://shop.example.com/reviews?from={prepare.csrf}', extract: { seen: { cookie: 'seen' } } },
                ],
                response: { type: 'html', select: { items: ['.review p'] } },
                pagination: { style: 'cursor', param: 'after', next: 'a.next' },
            },
        ],
    };
}

/** As the value of an edit: removes the field or item. */
export const DROP = Symbol('drop');
export type Edits = Readonly<Record<string, unknown>>;

/** The good package with some edits, each named by its JSON pointer; `-` as last step appends to a list. */
export function editedPackage(edits: Edits): JsonObject {
    const document = goodPackage();
    for (const [pointer, value] of Object.entries(edits)) edit(document, pointer, value);
    return document;
}

/** The publishing context of a server without EGRESS_ALLOW. */
const CLOSED: PackageContext = { isPortAllowed: () => false };

export function check(value: unknown, context: PackageContext = CLOSED): PackageVerdict {
    return checkPackage(value, context);
}

/** All problems as `pointer code`. */
export function faultsOf(verdict: PackageVerdict): string[] {
    return verdict.ok ? [] : verdict.problems.map(({ path, code }) => `${path} ${code}`);
}

function edit(document: JsonObject, pointer: string, value: unknown): void {
    const steps = pointer
        .split('/')
        .slice(1)
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop() ?? '';
    let here: Json = document;
    for (const step of steps) here = (here as JsonObject)[step] as Json;
    if (Array.isArray(here) && last === '-') here.push(value as Json);
    else if (Array.isArray(here) && value === DROP) here.splice(Number(last), 1);
    else if (value === DROP) delete (here as JsonObject)[last];
    // An assignment to `__proto__` would set the prototype, while parsing JSON makes a key of it.
    else Object.defineProperty(here, last, { value, enumerable: true, configurable: true, writable: true });
}
