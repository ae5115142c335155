import { expect } from 'chai';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { LazyEndpoints, splitPackage } from '../../shared/domain/package/large-package.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';

describe('the endpoints of a large package', () => {
    const odd = ['"', '\\', '\\"', '"endpoints":[{', '}]', '{"name":"x"}', 'é😀', ''];
    const document: PackageDocument = {
        ...aPackage('large.test', { description: odd.join(' ') }),
        endpoints: odd.map((text, at) => ({
            description: text,
            ...anEndpoint('large.test', {
                name: `endpoint_${at}`,
                headers: { name: text },
                params: [
                    {
                        name: 'name',
                        source: 'query',
                        required: false,
                        description: text,
                        schema: { enum: [text, [text], { [text]: text }] },
                    },
                ],
                examples: [{ params: { name: text } }],
            }),
        })),
    };
    const last = { ...document, title: 'endpoints' };
    const { endpoints, ...head } = last;

    for (const [where, text] of [
        ['last', JSON.stringify({ ...head, endpoints })],
        ['first', JSON.stringify({ endpoints, ...head })],
    ] as const) {
        it(`are the same as the parser finds, whatever they contain: listed ${where}`, () => {
            const lazy = new LazyEndpoints(splitPackage(text).endpoints);
            expect([...lazy.keys()].map((name) => [name, lazy.get(name)])).to.deep.equal(
                endpoints.map((endpoint) => [endpoint.name, readEndpoint(endpoint)]),
            );
            expect(JSON.parse(lazy.toJson())).to.deep.equal(endpoints);
            expect([lazy.has('endpoint_1'), lazy.has('constructor'), lazy.get('name')]).to.deep.equal([true, false, undefined]);
        });
    }
});
