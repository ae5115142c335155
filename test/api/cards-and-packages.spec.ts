import { expect } from 'chai';
import type { Card, DownloadedPackage, PublishAnswer } from '../../shared/contracts/schemas.ts';
import { yank } from '../../shared/store/registry/yank.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

describe('a published site', () => {
    const world = useWorld({ workers: 0 });
    let maker: Person;

    const published = (answer: Answer) => dataOf(answer) as unknown as PublishAnswer;
    const packageOf = async (site: string, query = '') =>
        dataOf(await stranger(world).call('GET', `/v1/schemas/${site}/package${query}`)) as unknown as DownloadedPackage;
    const cardOf = async (site: string) => dataOf(await stranger(world).call('GET', `/v1/schemas/${site}`)) as unknown as Card;

    const site = 'read.test';
    let hashes: string[];

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
        hashes = [];
        for (const title of ['One', 'Two', 'Three']) {
            const search = anEndpoint(site, {
                name: 'search',
                kind: 'search',
                url: `https://${site}/search`,
                params: [],
                hosted: false,
            });
            hashes.push(
                published(
                    await maker.publish(aPackage(site, { title, endpoints: [anEndpoint(site, { headers: { 'x-app': 'web' } }), search] })),
                ).version_hash,
            );
        }
    });

    it('has a card without URLs, headers and addresses of persons', async () => {
        const card = await cardOf(site);
        expect(card).to.deep.include({
            site,
            title: 'Three',
            version: 3,
            version_hash: hashes[2],
            verified: false,
            verified_at: null,
            fetches_7d: 0,
        });
        expect(card.endpoints).to.deep.equal([
            { name: 'product', kind: 'api_call', method: 'GET', description: 'One product with its price.', hosted: true, credits: 1 },
            { name: 'search', kind: 'search', method: 'GET', description: 'One product with its price.', hosted: false, credits: 1 },
        ]);
        expect(JSON.stringify(card)).not.to.match(/https?:|x-app|@/);
    });

    it('has a package that is found by number, by hash and as the latest', async () => {
        for (const [query, title] of [
            ['', 'Three'],
            ['?version=1', 'One'],
            ['?version=2', 'Two'],
            [`?version=${hashes[0]}`, 'One'],
            [`?version=${hashes[2]}`, 'Three'],
        ]) {
            expect((await packageOf(site, query)).title, query).to.equal(title);
        }
    });

    it('answers with an error for unknown sites, versions and hashes', async () => {
        const ask = async (path: string) => codeOf(await stranger(world).call('GET', path));
        for (const version of ['4', '999999999', '2147483648', '999999999999999', 'f'.repeat(64)])
            expect(await ask(`/v1/schemas/${site}/package?version=${version}`), version).to.equal('VERSION_NOT_FOUND');
        for (const version of ['0', '-1', '1.0', '1e1', '01', 'latest', '', '9999999999999999', 'F'.repeat(64), `${hashes[0]}0`]) {
            expect(await ask(`/v1/schemas/${site}/package?version=${version}`), version).to.equal('VALIDATION_ERROR');
        }
        const unlike = await stranger(world).call('GET', `/v1/schemas/${site}/package?version=latest`);
        expect(detailsOf(unlike)).to.deep.equal(['/version INVALID_VALUE']);
        expect(JSON.stringify(unlike.body)).to.include('must be the number of a version, such as 3, or its hash');
        for (const path of ['/v1/schemas/nowhere.test', '/v1/schemas/nowhere.test/package', '/v1/schemas/nowhere.test/package?version=1']) {
            expect(await ask(path), path).to.equal('SITE_NOT_FOUND');
        }
        for (const path of ['/v1/schemas/localhost', '/v1/schemas/10.0.0.1/package', '/v1/schemas/a%2Fb']) {
            expect(await ask(path), path).to.equal('INVALID_DOMAIN');
        }
    });

    it('does not use a yanked version as the latest, and shows nothing of a version yanked for legal reasons', async () => {
        await yank(world.app.db, site, 3, 'broken');
        expect((await cardOf(site)).version).to.equal(2);
        expect((await packageOf(site)).version).to.equal(2);
        expect((await packageOf(site, '?version=3')).title).to.equal('Three');
        const look = await stranger(world).call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`);
        expect((look.body['schema'] as { version: number }).version).to.equal(2);

        await yank(world.app.db, site, 2, 'legal');
        expect((await packageOf(site)).version).to.equal(1);
        for (const query of ['?version=2', `?version=${hashes[1]}`]) {
            expect(codeOf(await stranger(world).call('GET', `/v1/schemas/${site}/package${query}`)), query).to.equal('VERSION_NOT_FOUND');
        }

        await yank(world.app.db, site, 1, 'security');
        for (const path of [`/v1/schemas/${site}`, `/v1/schemas/${site}/package`]) {
            expect(codeOf(await stranger(world).call('GET', path)), path).to.equal('SITE_NOT_FOUND');
        }
        await eventually(
            async () => codeOf(await maker.call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`)),
            (code) => code === 'SITE_NOT_FOUND',
        );
    });
});
