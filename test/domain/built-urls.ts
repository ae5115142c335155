import fc from 'fast-check';
import { bindParams } from '../../shared/domain/fetch/bind-params.ts';
import { buildUrl } from '../../shared/domain/fetch/build-request.ts';
import { type Json, type JsonObject, STYLES } from '../../shared/domain/types.ts';
import { anEndpoint, pathParam, queryParam } from './an-endpoint.ts';

/** The params `s` and `t` may be several segments. */
const TEMPLATES = [
    'https://api.shop.example/v2/{a}/items',
    'https://shop.example/{a}',
    'https://shop.example/x/{a}/{b}/y?own={a}&k=v',
    'https://shop.example/pre-{a}.{b}/z',
    'http://shop.example:8080/{a}/?x={b}',
    'https://shop.example/wiki/{s}',
    'https://shop.example/{a}/pre-{s}.{t}/x?own={s}&b={b}',
].map((url) => ({
    endpoint: anEndpoint({
        url,
        params: [
            pathParam('a', { default: 'dflt' }),
            pathParam('b', { default: 'dflt' }),
            ...['s', 't'].map((name) => pathParam(name, { segments: true, default: 'one/two' })),
            ...STYLES.map((style) => queryParam(`q ${style}`, { schema: true, style })),
            queryParam('r&=?#/'),
        ],
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
const path = fc.array(text, { maxLength: 24 }).map((segments) => segments.join('/'));
const scalar = fc.oneof({ weight: 5, arbitrary: text }, { weight: 2, arbitrary: path }, fc.double(), fc.boolean(), fc.integer());
const several = fc.oneof(fc.array(scalar, { maxLength: 3 }), fc.dictionary(text, scalar, { maxKeys: 3 }));
const value: fc.Arbitrary<Json> = fc.oneof({ weight: 6, arbitrary: scalar }, several, fc.constant(null));
const names = ['a', 'b', 's', 't', 'r&=?#/', ...STYLES.map((style) => `q ${style}`)];
const params = fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 4 });

/**
 * Builds this many URLs from random params. Throws if one is not in canonical form or differs from its template in scheme, user info, host,
 * port, number of path segments (counting the values that may have several) or has a fragment. Refused params have no URL and do not count;
 * throws if too few params have one.
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
        const added = ['s', 't']
            .filter((name) => endpoint.url.split('?')[0]?.includes(`{${name}}`))
            .reduce((sum, name) => sum + segments(String(binding.values[name])) - 1, 0);
        if (!stays || segments(url.pathname) !== segments(template.pathname) + added)
            throw new Error(`${href} left its template ${template.href}`);
    });
    fc.assert(property, { numRuns: count, seed: 5 });
}
