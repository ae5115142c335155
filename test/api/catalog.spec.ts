import { expect } from 'chai';
import type { JsonObject } from '../../shared/domain/types.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { catalogOf, useCatalogWorld } from '../support/catalog-world.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, stranger } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';

const SITE = 'shop.test';

describe('a catalog look-up', () => {
    const { world, maker, lookUp } = useCatalogWorld();
    const errorOf = ({ body }: Answer) => body['error'] as JsonObject;

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
});
