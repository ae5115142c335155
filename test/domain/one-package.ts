import type { JsonObject, PackageDocument, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';

/** Minimal packages for the specs of exports. */

/** A package of these endpoints. */
export const onePackage = (...endpoints: PackageEndpoint[]): PackageDocument => ({
    format: 'routebook/1',
    site: 'shop.example.com',
    title: 'Shop',
    intent_category: 'commerce',
    endpoints,
});
/** A GET of a path on its site. */
export const endpoint = (name: string, url: string, more: Partial<PackageEndpoint> = {}): PackageEndpoint => ({
    name,
    method: 'GET',
    url: `https://shop.example.com${url}`,
    ...more,
});
/** A param for a placeholder. */
export const pathParam = (name: string, schema: JsonObject = { type: 'string' }): PackageParam => ({
    name,
    source: 'path',
    required: true,
    schema,
});
