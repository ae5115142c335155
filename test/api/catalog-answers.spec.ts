import { expect } from 'chai';
import type { JsonObject } from '../../shared/domain/types.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { catalogOf, useCatalogWorld } from '../support/catalog-world.ts';
import { eventually } from '../support/eventually.ts';
import { dataOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';

const SITE = 'shop.test';

describe('the response to a catalog look-up', () => {
    const { world, maker, lookUp } = useCatalogWorld();
    const RETURNS = { type: 'object', properties: { items: { type: 'array' } }, required: ['items'] };
    const endpoints = [
        anEndpoint(SITE),
        anEndpoint(SITE, {
            name: 'search_products',
            kind: 'search',
            description: 'Search products by words of the title.',
            url: `https://${SITE}/search?lang=en`,
            headers: { accept: 'application/json' },
            params: [
                { name: 'q', source: 'query', required: true, description: 'Words.', schema: { type: 'string', maxLength: 80 } },
                { name: 'section', source: 'query', required: false, default: 'all' },
                { name: 'page', source: 'query', required: false },
            ],
            billing: { unit: 'result', results: 'items', max_results: 50 },
            response: { select: { items: 'products' }, schema: RETURNS },
            pagination: { param: 'page', max_pages: 5 },
            examples: [{ params: { q: 'shoes' } }, { params: { q: 'hats' } }],
        }),
        anEndpoint(SITE, {
            name: 'place_order',
            description: 'Order a product.',
            method: 'POST',
            url: `https://${SITE}/orders`,
            params: [{ name: 'product_id', source: 'body', required: true }],
            body: { order: { product: '{product_id}' } },
            body_required: false,
        }),
        anEndpoint(SITE, {
            name: 'reviews',
            description: 'What customers say.',
            url: `https://${SITE}/reviews/{page}`,
            params: [
                { name: 'page', source: 'path', required: true, segments: true },
                { name: 'tags', source: 'query', required: false, schema: { type: 'array' }, style: 'comma' },
                { name: 'Accept-Language', source: 'header', required: false },
            ],
            hosted: false,
        }),
    ];

    before(async () => void dataOf(await maker.publish(aPackage(SITE, { endpoints }))));

    it('has every endpoint, reads and writes, in exactly the documented fields', async () => {
        const catalog = catalogOf(await lookUp(SITE, INTENT));
        expect(Object.keys(catalog)).to.have.members(['success', 'domain', 'session_id', 'endpoints', 'schema']);
        expect(catalog.endpoints.map(({ name }) => name)).to.have.members(['product', 'search_products', 'place_order', 'reviews']);
        const search = catalog.endpoints.find(({ name }) => name === 'search_products');
        expect(search).to.deep.equal({
            name: 'search_products',
            method: 'GET',
            url: `https://${SITE}/search?lang=en`,
            headers: { accept: 'application/json' },
            kind: 'search',
            description: 'Search products by words of the title.',
            params: [
                { name: 'q', source: 'query', required: true, description: 'Words.', schema: { type: 'string', maxLength: 80 } },
                { name: 'section', source: 'query', required: false, description: '', default: 'all' },
                { name: 'page', source: 'query', required: false, description: '' },
            ],
            hosted: true,
            effect: 'read',
            auth: 'none',
            returns: RETURNS,
            billing: { unit: 'result', results: 'items', max_results: 50 },
            credits: 1,
            credits_max: 50,
            pagination: { max_pages: 5 },
            examples: [{ params: { q: 'shoes' } }],
            health: { success_rate_7d: null, p95_ms: null, last_success_at: null },
        });
        expect(catalog.endpoints.find(({ name }) => name === 'place_order')).to.include({
            effect: 'write',
            auth: 'none',
            hosted: true,
            kind: 'api_call',
        });
        expect(catalog.endpoints.find(({ name }) => name === 'place_order')).to.deep.include({
            body_format: 'json',
            body: { order: { product: '{product_id}' } },
            body_required: false,
        });
        expect(catalog.endpoints.find(({ name }) => name === 'place_order')).to.deep.include({
            billing: { unit: 'request' },
            pagination: null,
            examples: [],
        });
        expect(catalog.endpoints.find(({ name }) => name === 'reviews')).to.deep.include({
            hosted: false,
            headers: {},
            params: [
                { name: 'page', source: 'path', required: true, description: '', segments: true },
                { name: 'tags', source: 'query', required: false, description: '', schema: { type: 'array' }, style: 'comma' },
                { name: 'Accept-Language', source: 'header', required: false, description: '' },
            ],
        });
    });

    it('has the page to open first, and as much of long schemas and examples as fits', async () => {
        const long = (depth: number): JsonObject => ({
            type: 'object',
            description: 'd'.repeat(1500),
            ...(depth === 0 ? {} : { properties: { deeper: long(depth - 1) } }),
        });
        const sent = anEndpoint('long.test', {
            name: 'sent',
            kind: 'submit_form',
            method: 'POST',
            url: 'https://long.test/form',
            params: [{ name: 'text', source: 'body', required: true }],
            prepare: { url: 'https://long.test/form', form: '#form' },
            response: { schema: long(5) },
            examples: [{ params: { text: 'e'.repeat(2100) } }],
        });
        dataOf(await maker.publish(aPackage('long.test', { endpoints: [sent] })));
        const [endpoint] = catalogOf(await lookUp('long.test', INTENT)).endpoints;
        expect(endpoint).to.deep.include({
            prepare: { url: 'https://long.test/form', form: '#form' },
            returns_truncated: true,
            examples: [],
        });
        expect(JSON.stringify(endpoint?.returns)).to.have.length.within(3000, 4096);
        expect(endpoint?.returns).to.have.nested.property('properties.deeper.properties.deeper').that.deep.equals({});
    });

    it('stays within a megabyte: the last endpoints lose their response schemas and examples', async () => {
        const schema = { type: 'object', properties: { text: { type: 'string', description: 'd'.repeat(3900) } } };
        const many = Array.from({ length: 400 }, (_, index) =>
            anEndpoint('wide.test', { name: `one_${index}`, response: { schema }, examples: [{ params: { id: index + 1 } }] }),
        );
        dataOf(await maker.publish(aPackage('wide.test', { endpoints: many })));
        const catalog = catalogOf(await lookUp('wide.test', INTENT));
        expect(JSON.stringify(catalog.endpoints)).to.have.length.within(900_000, 1_048_576);
        expect(catalog.endpoints).to.have.length(400);
        const whole = catalog.endpoints.findIndex(({ returns }) => returns === undefined);
        for (const [place, endpoint] of catalog.endpoints.entries()) {
            if (place < whole) expect(endpoint).to.deep.include({ returns: schema }).and.not.have.property('returns_truncated');
            else expect(endpoint).to.deep.include({ returns_truncated: true, examples: [] }).and.not.have.property('returns');
        }
    });

    it('has the best matches of the intent first', async () => {
        const first = async (intent: string) => catalogOf(await lookUp(SITE, intent)).endpoints[0]?.name;
        expect(await first('search for products by some words')).to.equal('search_products');
        expect(await first('place an order for this product now')).to.equal('place_order');
        expect(await first('read the reviews that customers wrote')).to.equal('reviews');
    });

    it('has the current version, and prices as the operator set them', async () => {
        await sites.setDomain(world.app.db, SITE, { credits: 5 });
        const card = dataOf(await maker.call('GET', `/v1/schemas/${SITE}`));
        await eventually(
            async () => catalogOf(await lookUp(SITE, INTENT)).endpoints[0]?.credits,
            (credits) => credits === 5,
        );
        const catalog = catalogOf(await lookUp(SITE, INTENT));
        expect(catalog.schema).to.deep.equal({
            version: card['version'],
            version_hash: card['version_hash'],
            verified: false,
            verified_at: null,
            claim: 'unproven',
            hosts: [SITE],
            auth: [],
        });
        expect(catalog.endpoints.find(({ name }) => name === 'search_products')).to.include({ credits: 5, credits_max: 250 });
        await sites.setDomain(world.app.db, SITE, { credits: 1 });
    });

    it('has a new session each time, which links it to later fetches', async () => {
        const ids = [catalogOf(await lookUp(SITE, INTENT)).session_id, catalogOf(await lookUp(SITE, INTENT, { person: maker })).session_id];
        for (const id of ids) expect(id).to.match(/^ses_[0-9A-Za-z]+$/);
        expect(ids[0]).not.to.equal(ids[1]);
    });

    it('has the new version immediately after a publish', async () => {
        const { version } = dataOf(await maker.publish(aPackage(SITE, { endpoints, title: 'Newer' })));
        expect(catalogOf(await lookUp(SITE, INTENT)).schema.version).to.equal(version);
    });

    it('has the same endpoints with and without a key', async () => {
        const [anonymous, known] = [catalogOf(await lookUp(SITE, INTENT)), catalogOf(await lookUp(SITE, INTENT, { person: maker }))];
        expect(anonymous.endpoints).to.deep.equal(known.endpoints);
    });
});
