import type { JsonObject, PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';

/** A package with one endpoint, as small as the rules allow. A test sets only what it is about. */
export function aPackage(site: string, more: Partial<PackageDocument> = {}): PackageDocument {
    return {
        format: 'routebook/1',
        site,
        title: 'Example Shop',
        description: 'A shop for tests.',
        intent_category: 'commerce/product-search',
        endpoints: [anEndpoint(site)],
        ...more,
    };
}

/** A read of one product; `url` is on the site unless the test says otherwise. */
export function anEndpoint(site: string, more: Partial<PackageEndpoint> = {}): PackageEndpoint {
    return {
        name: 'product',
        description: 'One product with its price.',
        method: 'GET',
        url: `https://${site}/products/{id}`,
        params: [
            { name: 'id', source: 'path', required: true, description: 'Number of the product.', schema: { type: 'integer', minimum: 1 } },
        ],
        ...more,
    };
}

/** A copy of a JSON value in which the value at a JSON pointer is replaced. `undefined` removes it. */
export function withChange<T extends object>(document: T, pointer: string, value: unknown): T {
    const copy = structuredClone(document);
    const steps = pointer
        .split('/')
        .slice(1)
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop() ?? '';
    let holder = copy as JsonObject;
    for (const step of steps) holder = holder[step] as JsonObject;
    if (value === undefined) delete holder[last];
    else Object.defineProperty(holder, last, { value, enumerable: true, configurable: true, writable: true });
    return copy;
}
