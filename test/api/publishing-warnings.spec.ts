import { domainToASCII } from 'node:url';
import { expect } from 'chai';
import type { PublishAnswer } from '../../shared/contracts/schemas.ts';
import { publishStarter } from '../../shared/store/registry/starter.ts';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

/** Assembled here, so that secret scanners do not report this file. */
const SECRET = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;

for (const topology of ANY_TOPOLOGY) {
    describe(`the checks of publishing, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });
        let ada: Person;
        let bob: Person;

        before(async () => {
            [ada, bob] = await Promise.all([join(world, { plan: 'enterprise' }), join(world, { plan: 'enterprise' })]);
            await publishStarter(world.app.db, aPackage('wikipedia.test'));
            dataOf(await ada.publish(aPackage('paypal.test')));
        });

        const resultOf = (answer: Answer) => dataOf(answer) as unknown as PublishAnswer;
        const likeOf = (answer: Answer) =>
            resultOf(answer)
                .warnings.filter(({ code }) => code === 'LOOK_ALIKE_SITE')
                .map(({ path, message }) => `${path} ${/from (\S+),/.exec(message)?.[1]} by ${/ by ([^.]+)\./.exec(message)?.[1]}`);

        describe('warn of names', () => {
            it('with letters of other scripts, another ending, or one letter’s difference from a well-known site', async () => {
                for (const [site, warning] of [
                    ['раураl.test', '/site paypal.test by letters that look alike'],
                    ['paypal.example', '/site paypal.test by another ending'],
                    ['wikipedla.test', '/site wikipedia.test by one letter'],
                    ['shop.vvikipedia.test', '/site wikipedia.test by letters that look alike'],
                ] as const) {
                    for (const query of ['?dry_run=true', '']) {
                        const answer = await bob.publish(aPackage(domainToASCII(site)), query);
                        expect(answer.status).to.be.oneOf([200, 201]);
                        expect(likeOf(answer), `${site}${query}`).to.deep.equal([warning]);
                    }
                }
            });

            it('once, while nothing was published on the domain', async () => {
                dataOf(await bob.publish(aPackage('paypal.gov.example')));
                for (const next of [aPackage('paypal.gov.example', { title: 'Two' }), aPackage('api.paypal.gov.example')])
                    expect(likeOf(await bob.publish(next))).to.deep.equal([]);
            });

            it('but not of the owner’s own sites, nor of one letter’s difference from a little-known site', async () => {
                expect(likeOf(await ada.publish(aPackage('paypal.gov.test')))).not.to.include('/site paypal.test by another ending');
                expect(likeOf(await bob.publish(aPackage('paypol.test')))).to.deep.equal([]);
                for (const site of ['something-else.test', 'example.com', 'shop.something.example'])
                    expect(likeOf(await bob.publish(aPackage(site)))).to.deep.equal([]);
            });

            it('with one letter’s difference from a much used site, once its use is counted', async () => {
                dataOf(await ada.publish(aPackage('popular.test')));
                expect(likeOf(await bob.publish(aPackage('popularr.test'), '?dry_run=true'))).to.deep.equal([]);
                const path = `/v1/catalog/popular.test?intent=${encodeURIComponent(INTENT)}`;
                for (let time = 0; time < 3; time++) expect((await bob.call('GET', path)).status).to.equal(200);
                await world.app.usage.close();
                await world.clock.advance({ hours: 1 });
                expect(await rollUpTrending(world.app.db)).to.equal(true);
                expect(likeOf(await bob.publish(aPackage('popularr.test'), '?dry_run=true'))).to.deep.equal([
                    '/site popular.test by one letter',
                ]);
            });
        });

        it('refuse what looks like a secret, in any text of a package and in keys, without repeating it', async () => {
            const site = 'leaky.test';
            const param = { name: 'q', source: 'query' as const, required: false };
            const query = (more: object) => ({
                endpoints: [anEndpoint(site, { url: `https://${site}/`, params: [{ ...param, ...more }] })],
            });
            const leaks: [string, object][] = [
                ['/title', { title: `Try ${SECRET}` }],
                ['/description', { description: `Try ${SECRET}` }],
                ['/endpoints/0/description', { endpoints: [anEndpoint(site, { description: SECRET })] }],
                ['/endpoints/0/url', { endpoints: [anEndpoint(site, { url: `https://${site}/${SECRET}/{id}` })] }],
                ['/endpoints/0/headers/x-app', { endpoints: [anEndpoint(site, { headers: { 'x-app': SECRET } })] }],
                ['/endpoints/0/params/0/default', query({ default: SECRET })],
                ['/endpoints/0/params/0/example', query({ name: 'api_key', example: 'abcdef0123456789' })],
                ['/endpoints/0/params/0/schema/enum/1', query({ schema: { enum: ['a', SECRET] } })],
                ['/endpoints/0/params/0/schema/properties', query({ schema: { properties: { [SECRET]: true } } })],
                ['/endpoints/0/examples/0/params/q', { endpoints: [{ ...query({}).endpoints[0], examples: [{ params: { q: SECRET } }] }] }],
                [
                    '/endpoints/0/response/select/items',
                    { endpoints: [anEndpoint(site, { response: { select: { items: `a[?b=='${SECRET}']` } } })] },
                ],
            ];
            for (const [path, change] of leaks) {
                for (const query of ['', '?dry_run=true']) {
                    const refused = await bob.publish(aPackage(site, change), query);
                    expect([refused.status, codeOf(refused)], path).to.deep.equal([422, 'SCHEMA_INVALID']);
                    expect(detailsOf(refused), path).to.include(`${path} SECRET_DETECTED`);
                    expect(JSON.stringify(refused.body), path).not.to.include(SECRET.slice(8));
                    expect(JSON.stringify(refused.body), path).not.to.include('abcdef0123456789');
                }
            }
            expect(JSON.stringify(world.logged)).not.to.include(SECRET.slice(8));
            const nowhere = await bob.call('GET', `/v1/schemas/${site}`);
            expect(codeOf(nowhere)).to.equal('SITE_NOT_FOUND');
        });

        it('name what a new version changes for callers: effect, billing or pages', async () => {
            const site = 'changing.test';
            const walk = anEndpoint(site, {
                kind: 'paginate',
                url: `https://${site}/all`,
                params: [],
                pagination: { param: 'page', max_pages: 3 },
            });
            const post = anEndpoint(site, { name: 'send', method: 'POST', url: `https://${site}/send`, params: [] });
            const steps: [what: string, endpoints: object[], change: string, changed: string[]][] = [
                ['the first', [walk, post], 'major', []],
                ['fewer pages', [{ ...walk, pagination: { param: 'page', max_pages: 2 } }, post], 'patch', ['product']],
                ['dearer pages', [walk, post], 'major', ['product']],
                ['another effect', [walk, { ...post, effect: 'read' }], 'major', ['send']],
                [
                    'another unit',
                    [
                        { ...walk, billing: { unit: 'result', max_results: 1 } },
                        { ...post, effect: 'read' },
                    ],
                    'patch',
                    ['product'],
                ],
                ['the unit back', [walk, { ...post, effect: 'read' }], 'major', ['product']],
                [
                    'a param that must be given',
                    [
                        { ...walk, params: [{ name: 'q', source: 'query', required: true }] },
                        { ...post, effect: 'read' },
                    ],
                    'major',
                    ['product'],
                ],
                [
                    'one more endpoint',
                    [
                        { ...walk, params: [{ name: 'q', source: 'query', required: true }] },
                        { ...post, effect: 'read' },
                        anEndpoint(site, { name: 'more' }),
                    ],
                    'minor',
                    [],
                ],
            ];
            for (const [index, [what, endpoints, change, changed]] of steps.entries()) {
                const document = { ...aPackage(site), endpoints };
                const tried = resultOf(await ada.publish(document, '?dry_run=true'));
                expect(tried, what).to.deep.include({ version: index + 1, change, created: false });
                const published = resultOf(await ada.publish(document));
                expect(published, what).to.deep.include({ version: index + 1, change, created: true, changes: tried.changes });
                expect(published.changes.changed, what).to.deep.equal(changed);
            }
        });
    });
}
