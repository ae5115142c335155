import { expect } from 'chai';
import { describeEndpoint } from '../../api/dashboard/registry/describe-endpoint.ts';
import { paramFields } from '../../api/dashboard/registry/try-form.ts';
import { contentOf } from '../../shared/domain/package/content.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';

/** The maximum length of a package. */
const LONG = '<'.repeat(3_500_000);

function endpointWith(schema: JsonObject, more: { default?: Json; example?: Json }, examples: { params: JsonObject }[] = []) {
    const params = [{ name: 'p', source: 'body' as const, required: more.default === undefined, schema, ...more }];
    return readEndpoint(anEndpoint('shop.test', { method: 'POST', effect: 'read', params, examples }));
}

describe('pages about an endpoint of a package of maximum length', () => {
    const rows: [name: string, endpoint: ReturnType<typeof endpointWith>][] = [
        ['a choice', endpointWith({ enum: [LONG, 'short'] }, {})],
        ['a thousand choices', endpointWith({ enum: Array.from({ length: 1000 }, (_, at) => `${at}${'x'.repeat(3000)}`) }, {})],
        ['a default', endpointWith({ enum: ['a', 'b'] }, { default: LONG })],
        ['an example of the param', endpointWith({ type: 'string' }, { example: LONG })],
        ['an example of the call', endpointWith({ type: 'string' }, {}, [{ params: { p: LONG } }])],
        ['a constant', endpointWith({ const: LONG }, {})],
    ];
    for (const [name, endpoint] of rows) {
        it(`are short if ${name} is long`, () => {
            const shown = describeEndpoint(endpoint, { siteCredits: 1, health: undefined });
            expect(JSON.stringify(shown).length).to.be.below(10_000);
            expect(JSON.stringify(paramFields(endpoint)).length).to.be.below(10_000);
        });
    }

    it('are complete if there is room', () => {
        const endpoint = endpointWith({ enum: ['red', 'blue'] }, { default: 'red' }, [{ params: { p: 'blue' } }]);
        expect(describeEndpoint(endpoint, { siteCredits: 1, health: undefined })).to.deep.include({ example: { p: 'blue' } });
        expect(paramFields(endpoint)[0]).to.deep.include({
            value: '"blue"',
            options: [
                { value: '', label: '– ("red")' },
                { value: '"red"', label: 'red' },
                { value: '"blue"', label: 'blue' },
            ],
        });
    });
});

describe('list descriptions of a package with long ones', () => {
    const endpoints = (count: number) =>
        Array.from({ length: count }, (_, at) => anEndpoint('shop.test', { name: `endpoint_${at}`, description: 'long '.repeat(1400) }));
    const cardOf = (count: number) => contentOf(aPackage('shop.test', { endpoints: endpoints(count) })).summary;

    it('are a twentieth of it if there are many, so that a list of such sites is still readable', () => {
        expect(cardOf(500).length).to.be.below(100_000);
        expect(JSON.parse(cardOf(500))).to.have.length(500);
    });

    it('are complete if there are few', () => {
        expect(JSON.parse(cardOf(4))).to.have.nested.property('[3].description', 'long '.repeat(1400));
    });
});
