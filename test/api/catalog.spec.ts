import { expect } from 'chai';
import type { CatalogAnswer } from '../../shared/contracts/catalog.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'shop.test';

describe('a catalog look-up', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });
    let maker: Person;

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
    });

    let address = 0;
    /** Callers without a key have 5 look-ups an hour, so each call comes from a new address. */
    const lookUp = (domain: string, intent?: string, { header, person = stranger(world) }: { header?: string; person?: Person } = {}) =>
        person.call('GET', `/v1/catalog/${domain}${intent === undefined ? '' : `?intent=${encodeURIComponent(intent)}`}`, {
            headers: { 'x-forwarded-for': `192.0.2.${++address % 250}`, ...(header === undefined ? {} : { 'x-service-intent': header }) },
        });
    const errorOf = ({ body }: Answer) => body['error'] as JsonObject;
    const catalogOf = ({ status, body }: Answer) => {
        expect(status, JSON.stringify(body)).to.equal(200);
        return body as unknown as CatalogAnswer;
    };

    describe('with an intent', () => {
        before(async () => void dataOf(await maker.publish(aPackage(SITE))));

        const cases: [string, string | undefined, string | undefined][] = [
            ['none', undefined, 'INTENT_REQUIRED'],
            ['an empty one', '', 'INTENT_REQUIRED'],
            ['blanks alone', ' \t \n ', 'INTENT_REQUIRED'],
            ['19 characters', 'a bb cc dd ee ff gg', 'INTENT_TOO_SHORT'],
            ['19 characters between blanks', '   a bb cc dd ee ff gg   ', 'INTENT_TOO_SHORT'],
            ['19 code points in 38 units', '😀'.repeat(19), 'INTENT_TOO_SHORT'],
            ['too short and too few words', 'one', 'INTENT_TOO_SHORT'],
            ['four distinct words', 'price price of the PRICE product', 'INTENT_TOO_FEW_WORDS'],
            ['20 characters without a word', '. , ; : ! ? - _ ( ) [ ] { } " \'', 'INTENT_TOO_FEW_WORDS'],
            ['20 characters and 5 words', 'aa bb cc dd ee ff gg', undefined],
            ['words in Greek', 'βρες την τιμή ενός προϊόντος', undefined],
            ['words with punctuation between', 'find,one/product;its-price', undefined],
        ];
        for (const [what, intent, code] of cases) {
            it(`of ${what}: ${code ?? 'succeeds'}`, async () => {
                const answer = await lookUp(SITE, intent);
                expect([answer.status, codeOf(answer)]).to.deep.equal([code === undefined ? 200 : 400, code]);
            });
        }

        it('is refused if it is too vague, with an example that is accepted', async () => {
            const answer = await lookUp(SITE, 'lamp prices');
            const message = String(errorOf(answer)['message']);
            const [, example = ''] = /For example: "(.*)"\.$/.exec(message) ?? [];
            expect(example).to.match(/^lamp prices on shop\.test/);
            expect((await lookUp(SITE, example)).status).to.equal(200);
            expect(errorOf(await lookUp(SITE))['message']).to.include('on shop.test');
        });

        it('may come in the header; the query parameter wins if both are present', async () => {
            expect((await lookUp(SITE, undefined, { header: INTENT })).status).to.equal(200);
            expect((await lookUp(SITE, INTENT, { header: 'short' })).status).to.equal(200);
            expect(codeOf(await lookUp(SITE, 'short', { header: INTENT }))).to.equal('INTENT_TOO_SHORT');
            expect(codeOf(await lookUp(SITE, '', { header: INTENT }))).to.equal('INTENT_REQUIRED');
        });

        it('is read from a UTF-8 header by characters, not by bytes', async () => {
            const asBytes = (text: string) => Buffer.from(text).toString('latin1');
            expect((await lookUp(SITE, undefined, { header: asBytes('βρες την τιμή ενός προϊόντος') })).status).to.equal(200);
            expect(codeOf(await lookUp(SITE, undefined, { header: asBytes('é è à ç ù ê î') }))).to.equal('INTENT_TOO_SHORT');
        });

        it('is checked after the domain and before the existence of a schema', async () => {
            expect(codeOf(await lookUp('no_domain'))).to.equal('INVALID_DOMAIN');
            expect(codeOf(await lookUp('nowhere.test'))).to.equal('INTENT_REQUIRED');
            expect(codeOf(await lookUp('nowhere.test', INTENT))).to.equal('SITE_NOT_FOUND');
        });
    });

    describe('of a site without a schema', () => {
        const suggested = async (site: string) => errorOf(await lookUp(site, INTENT))['did_you_mean'];

        before(async () => {
            for (const site of ['lamp-market.test', 'lamp-market.example', 'books.lamp-market.test'])
                dataOf(await maker.publish(aPackage(site, { endpoints: [anEndpoint(site)] })));
        });

        it('names similar sites, the nearest first', async () => {
            expect(await suggested('lamp-markt.test'))
                .to.be.an('array')
                .with.property('0', 'lamp-market.test');
            expect(await suggested('lampmarket.example'))
                .to.be.an('array')
                .with.property('0', 'lamp-market.example');
            expect(await suggested('api.lamp-market.example')).to.include('lamp-market.example');
            expect(((await suggested('lamp-markt.test')) as string[]).length).to.be.at.most(3);
        });

        it('names none if none is similar, and never a blocked one', async () => {
            expect(await suggested('weather-forecasts.test')).to.equal(undefined);
            dataOf(await maker.publish(aPackage('velvet-chairs.test', { endpoints: [anEndpoint('velvet-chairs.test')] })));
            await sites.blockDomain(world.app.db, 'velvet-chairs.test', 'asked for by its owner');
            expect(await suggested('velvet-chair.test')).to.equal(undefined);
        });

        it('names them also for a fetch or a card', async () => {
            expect(errorOf(await maker.fetch('lamp-markett.test', 'x'))['did_you_mean']).to.include('lamp-market.test');
            expect(errorOf(await maker.call('GET', '/v1/schemas/lamp-markett.test'))['did_you_mean']).to.include('lamp-market.test');
        });
    });

    describe('of a domain', () => {
        before(async () => void dataOf(await maker.publish(aPackage('bücher.test', { endpoints: [anEndpoint('xn--bcher-kva.test')] }))));

        it('is found in every spelling, and named in the canonical one', async () => {
            for (const spelling of [
                'xn--bcher-kva.test',
                'bücher.test',
                'BÜCHER.test',
                'www.bücher.test',
                'bücher.test.',
                '%20bücher.test',
            ]) {
                expect(catalogOf(await lookUp(spelling, INTENT)).domain, spelling).to.equal('xn--bcher-kva.test');
            }
        });

        it('is refused with INVALID_DOMAIN if it is no site', async () => {
            const bad = [
                'localhost',
                'shop',
                'com',
                'co.uk',
                'www.com',
                '127.0.0.1',
                '%5B::1%5D',
                '2130706433',
                'shop.test:8080',
                'https%3A%2F%2Fshop.test',
                'shop.test%2Fpath',
                'a@shop.test',
                'my_shop.test',
                'shop..test',
                '.shop.test',
                'printer.local',
                'db.internal',
                'x.onion',
                'a.b.arpa',
                'x.invalid',
                'shop.test%00',
                `${'a'.repeat(64)}.test`,
                '-a.test',
                'a%20b.test',
            ];
            for (const domain of bad) {
                const refused = await lookUp(domain, INTENT);
                expect([refused.status, codeOf(refused)], domain).to.deep.equal([400, 'INVALID_DOMAIN']);
            }
        });

        it('names the page for requesting a schema, and a request is accepted there', async () => {
            const { body } = await lookUp('nowhere.test', INTENT);
            const [, method = '', path = ''] = / (POST) (\/v1\/\S+)\.$/.exec((body['error'] as { message: string }).message) ?? [];
            const asked = { domain: 'nowhere.test', task: INTENT };
            expect((await maker.call(method, path, { body: asked })).status).to.equal(201);
        });

        it('that is blocked is SITE_BLOCKED within a second, as is every site on it, and works again once unblocked', async () => {
            dataOf(await maker.publish(aPackage('blocked.test')));
            dataOf(await maker.publish(aPackage('sub.blocked.test')));
            await sites.blockDomain(world.app.db, 'blocked.test', 'the owner asked');
            for (const domain of ['blocked.test', 'sub.blocked.test', 'unknown.blocked.test']) {
                const ms = await eventually(
                    async () => codeOf(await lookUp(domain, INTENT)),
                    (code) => code === 'SITE_BLOCKED',
                );
                expect(ms, domain).to.be.below(1000);
            }
            expect(JSON.stringify((await lookUp('blocked.test', INTENT)).body)).not.to.include('the owner asked');
            expect((await stranger(world).call('GET', '/v1/schemas/blocked.test')).status).to.equal(200);
            expect((await stranger(world).call('GET', '/v1/schemas/blocked.test/package')).status).to.equal(200);
            await sites.unblockDomain(world.app.db, 'blocked.test');
            await eventually(
                async () => (await lookUp('blocked.test', INTENT)).status,
                (status) => status === 200,
            );
        });
    });

    describe('responses', () => {
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

        it('have every endpoint, reads and writes, in exactly the documented fields', async () => {
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

        it('have the page to open first, and as much of long schemas and examples as fits', async () => {
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

        it('stay within a megabyte: the last endpoints lose their response schemas and examples', async () => {
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

        it('have the best matches of the intent first', async () => {
            const first = async (intent: string) => catalogOf(await lookUp(SITE, intent)).endpoints[0]?.name;
            expect(await first('search for products by some words')).to.equal('search_products');
            expect(await first('place an order for this product now')).to.equal('place_order');
            expect(await first('read the reviews that customers wrote')).to.equal('reviews');
        });

        it('have the current version, and prices as the operator set them', async () => {
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

        it('have a new session each time, which links them to later fetches', async () => {
            const ids = [
                catalogOf(await lookUp(SITE, INTENT)).session_id,
                catalogOf(await lookUp(SITE, INTENT, { person: maker })).session_id,
            ];
            for (const id of ids) expect(id).to.match(/^ses_[0-9A-Za-z]+$/);
            expect(ids[0]).not.to.equal(ids[1]);
        });

        it('have the new version immediately after a publish', async () => {
            const { version } = dataOf(await maker.publish(aPackage(SITE, { endpoints, title: 'Newer' })));
            expect(catalogOf(await lookUp(SITE, INTENT)).schema.version).to.equal(version);
        });

        it('have the same endpoints with and without a key', async () => {
            const [anonymous, known] = [catalogOf(await lookUp(SITE, INTENT)), catalogOf(await lookUp(SITE, INTENT, { person: maker }))];
            expect(anonymous.endpoints).to.deep.equal(known.endpoints);
        });
    });
});
