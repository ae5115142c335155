import fc from 'fast-check';
import { bindParams } from '../../shared/domain/fetch/bind-params.ts';
import { buildUrl } from '../../shared/domain/fetch/build-request.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { anEndpoint, pathParam, queryParam } from './an-endpoint.ts';

const TEMPLATES = [
    'https://api.shop.example/v2/{a}/items',
    'https://shop.example/{a}',
    'https://shop.example/x/{a}/{b}/y?own={a}&k=v',
    'https://shop.example/pre-{a}.{b}/z',
    'http://shop.example:8080/{a}/?x={b}',
].map((url) => ({
    endpoint: anEndpoint({
        url,
        params: [pathParam('a'), pathParam('b', { default: 'dflt' }), queryParam('q', { schema: true }), queryParam('r&=?#/')],
    }),
    url: new URL(url.replaceAll(/\{\w\}/g, 'P')),
}));

const STEERING =
    '/ \\ .. . %2e %2F ? # @ : // & = + evil.test [::1] {b} $& % %00 ; 。 ／ ． ＠ \u202e é 𝒳 %252e ..; ..%2f \u00ad http: javascript: a@b:1'.split(
        ' ',
    );

const text = fc.oneof(
    fc.array(fc.constantFrom(...STEERING, ' '), { maxLength: 6 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.webUrl(),
);
const scalar = fc.oneof({ weight: 5, arbitrary: text }, fc.double(), fc.boolean(), fc.integer());
const value: fc.Arbitrary<Json> = fc.oneof({ weight: 6, arbitrary: scalar }, fc.array(scalar, { maxLength: 3 }), fc.constant(null));
const params = fc.dictionary(fc.constantFrom('a', 'b', 'q', 'r&=?#/'), value, { minKeys: 1 });

/**
 * Builds so many URLs from random params and throws where one is not its own canonical form or leaves its template: scheme, user info,
 * host, port, number of path segments, no fragment. Params that are refused have no URL and do not count; fails where too few have one.
 */
export function checkBuiltUrls(count: number): void {
    const property = fc.property(fc.constantFrom(...TEMPLATES), params, ({ endpoint, url: template }, given) => {
        const binding = bindParams(endpoint, given as JsonObject, () => ({ ok: true }));
        fc.pre(binding.ok);
        const href = buildUrl(endpoint, binding.values);
        const url = new URL(href);
        if (url.href !== href) throw new Error(`${href} is not canonical: ${url.href}`);
        const stays = (['protocol', 'username', 'password', 'host', 'port', 'hash'] as const).every((part) => url[part] === template[part]);
        const segments = (path: string): number => path.split('/').length;
        if (!stays || segments(url.pathname) !== segments(template.pathname)) throw new Error(`${href} left its template ${template.href}`);
    });
    fc.assert(property, { numRuns: count, seed: 5 });
}
