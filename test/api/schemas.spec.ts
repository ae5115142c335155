import { expect } from 'chai';
import type { Card, DownloadedPackage, PublishAnswer } from '../../shared/contracts/schemas.ts';
import { versionHash } from '../../shared/domain/package/version-hash.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import * as maintainers from '../../shared/store/registry/maintainers.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { balanceOf } from '../support/credits.ts';
import { inTurn } from '../support/in-turn.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, openWorld, useWorld } from '../support/world.ts';

describe('publishing a schema', () => {
    const world = useWorld({ workers: 0 });
    let maker: Person;
    let number = 0;

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
    });

    const newSite = () => `shop${++number}.test`;
    const published = (answer: Answer) => dataOf(answer) as unknown as PublishAnswer;
    const packageOf = async (site: string, query = '') =>
        dataOf(await stranger(world).call('GET', `/v1/schemas/${site}/package${query}`)) as unknown as DownloadedPackage;
    const cardOf = async (site: string) => dataOf(await stranger(world).call('GET', `/v1/schemas/${site}`)) as unknown as Card;

    it('creates version 1 immediately, and returns its URL', async () => {
        const site = newSite();
        const document = aPackage(site);
        const answer = await maker.publish(document);
        expect(answer.status).to.equal(201);
        const result = published(answer);
        expect(result).to.deep.include({
            site,
            version: 1,
            version_hash: versionHash(document),
            created: true,
            change: 'major',
            changes: { added: ['product'], removed: [], changed: [], hosts_added: [site] },
            verified: false,
        });
        const location = await stranger(world).call('GET', answer.headers.get('location') ?? '');
        expect(dataOf(location)).to.deep.equal({
            ...document,
            version: 1,
            version_hash: result.version_hash,
            published_at: result.published_at,
        });
    });

    it('of the same content, in any order of keys, answers 200 with the same version', async () => {
        const site = newSite();
        const document = aPackage(site);
        const first = published(await maker.publish(document));
        const again = await maker.publish(Object.fromEntries(Object.entries(document).reverse()));
        expect(again.status).to.equal(200);
        expect(again.headers.get('location')).to.equal(null);
        expect(published(again)).to.deep.include({
            version: 1,
            version_hash: first.version_hash,
            created: false,
            published_at: first.published_at,
        });
    });

    it('stores the package as it was sent, with the canonical spelling of its site', async () => {
        const site = newSite();
        const document = { ...aPackage(site), title: 'Größe 😀 \u2028', description: 'one\r\ntwo\tthree' };
        published(await maker.publish({ ...document, site: ` WWW.${site.toUpperCase()}. ` }));
        const { version: _version, version_hash: hash, published_at: _at, ...kept } = await packageOf(site);
        expect(kept).to.deep.equal({ ...document, description: 'one\ntwo\tthree' });
        expect(Object.keys(kept)).to.deep.equal(Object.keys(document));
        expect(hash).to.equal(versionHash(kept as PackageDocument));
    });

    it('warns if nothing could ever be verified', async () => {
        const site = newSite();
        expect(published(await maker.publish(aPackage(site))).warnings.map(({ code }) => code)).to.include('NO_EXAMPLES');
        const withExample = aPackage(site, { endpoints: [anEndpoint(site, { examples: [{ params: { id: 1 } }] })] });
        expect(published(await maker.publish(withExample)).warnings.map(({ code }) => code)).not.to.include('NO_EXAMPLES');
    });

    it('classifies the change, from patch to major', async () => {
        const site = newSite();
        const product = anEndpoint(site);
        const search = anEndpoint(site, {
            name: 'search',
            kind: 'search',
            url: `https://${site}/search`,
            params: [{ name: 'q', source: 'query', required: true }],
        });
        published(await maker.publish(aPackage(site, { endpoints: [product] })));
        const steps: [string, PackageDocument, string, PublishAnswer['changes']][] = [
            [
                'another title',
                aPackage(site, { endpoints: [product], title: 'New' }),
                'patch',
                { added: [], removed: [], changed: [], hosts_added: [] },
            ],
            [
                'an endpoint more',
                aPackage(site, { endpoints: [product, search] }),
                'minor',
                { added: ['search'], removed: [], changed: [], hosts_added: [] },
            ],
            [
                'a text changed',
                aPackage(site, { endpoints: [{ ...product, description: 'Better said.' }, search] }),
                'patch',
                { added: [], removed: [], changed: ['product'], hosts_added: [] },
            ],
            [
                'a dearer bill',
                aPackage(site, { endpoints: [product, { ...search, billing: { unit: 'result', max_results: 9 } }] }),
                'major',
                { added: [], removed: [], changed: ['product', 'search'], hosts_added: [] },
            ],
            [
                'an endpoint less',
                aPackage(site, { endpoints: [product] }),
                'major',
                { added: [], removed: ['search'], changed: [], hosts_added: [] },
            ],
        ];
        for (const [index, [what, document, change, changes]] of steps.entries()) {
            expect(published(await maker.publish(document)), what).to.deep.include({ version: index + 2, change, changes });
        }
    });

    it('with dry_run answers the same and stores nothing', async () => {
        const site = newSite();
        const document = aPackage(site);
        const tried = await maker.publish(document, '?dry_run=true');
        expect(tried.status).to.equal(200);
        expect(published(tried)).to.deep.include({
            version: 1,
            created: false,
            version_hash: versionHash(document),
            change: 'major',
            published_at: null,
            credits_earned: 0,
        });
        expect(codeOf(await stranger(world).call('GET', `/v1/schemas/${site}`))).to.equal('SITE_NOT_FOUND');
        published(await maker.publish(document));
        expect(published(await maker.publish({ ...document, title: 'New' }, '?dry_run=true'))).to.deep.include({
            version: 2,
            created: false,
            change: 'patch',
        });
        expect((await cardOf(site)).version).to.equal(1);
        expect(codeOf(await maker.publish({ ...document, title: '' }, '?dry_run=true'))).to.equal('SCHEMA_INVALID');
        const other = await join(world);
        expect(codeOf(await other.publish({ ...document, title: 'Theirs' }, '?dry_run=true'))).to.equal('NOT_MAINTAINER');
        expect(published(await maker.publish(document, '?dry_run=false')).created).to.equal(false);
        expect(codeOf(await maker.publish(document, '?dry_run=maybe'))).to.equal('VALIDATION_ERROR');
    });

    it('prevents a lost update by If-Match', async () => {
        const site = newSite();
        const put = (title: string, ifMatch: string) =>
            maker.call('POST', '/v1/schemas', { body: aPackage(site, { title }), headers: { 'if-match': ifMatch } });
        expect(codeOf(await put('One', '*'))).to.equal('VERSION_CONFLICT');
        const first = published(await maker.publish(aPackage(site)));
        const second = published(await put('Two', `"${first.version_hash}"`));
        expect(second.version).to.equal(2);
        const again = await put('Two', `"${first.version_hash}"`);
        expect([again.status, published(again).version, published(again).created]).to.deep.equal([200, 2, false]);
        const bob = await join(world);
        const update = { body: aPackage(site, { title: 'Two' }), headers: { 'if-match': `"${first.version_hash}"` } };
        expect(codeOf(await bob.call('POST', '/v1/schemas', update))).to.equal('NOT_MAINTAINER');
        const late = await put('Three', `"${first.version_hash}"`);
        expect([late.status, codeOf(late)]).to.deep.equal([409, 'VERSION_CONFLICT']);
        expect((late.body['error'] as { message: string }).message).to.include(second.version_hash);
        expect(published(await put('Three', '*')).version).to.equal(3);
        for (const bad of [first.version_hash, `W/"${first.version_hash}"`, '"', '""', '']) {
            const refused = await put('Four', bad);
            expect([codeOf(refused), detailsOf(refused)], bad).to.deep.equal(['VALIDATION_ERROR', ['/If-Match INVALID_VALUE']]);
        }
        for (const stale of ['"stale"', '"*"', `"${'G'.repeat(64)}"`])
            expect(codeOf(await put('Four', stale)), stale).to.equal('VERSION_CONFLICT');
        const wrongInBoth = await maker.call('POST', '/v1/schemas', {
            body: { ...aPackage(site), title: 7 },
            headers: { 'if-match': 'x' },
        });
        expect([codeOf(wrongInBoth), detailsOf(wrongInBoth)]).to.deep.equal(['VALIDATION_ERROR', ['/If-Match INVALID_VALUE']]);
    });

    it('is open to the first workspace of the registrable domain and to those it adds', async () => {
        const site = newSite();
        published(await maker.publish(aPackage(`api.${site}`)));
        const other = await join(world);
        for (const name of [site, `api.${site}`, `new.${site}`]) {
            const refused = await other.publish(aPackage(name, { title: 'Theirs' }));
            expect([refused.status, codeOf(refused)], name).to.deep.equal([403, 'NOT_MAINTAINER']);
            const { message } = refused.body['error'] as { message: string };
            // Who can let the caller in, and the way without them.
            expect(message).to.include('/maintainers').and.include('/claims');
        }
        await maintainers.addMaintainer(world.app.db, site, other.workspaceId);
        expect(published(await other.publish(aPackage(`new.${site}`))).version).to.equal(1);
        const { rows } = await world.app.db.raw('select name from workspaces where id = ?', [maker.workspaceId]);
        expect((await cardOf(`api.${site}`)).maintainer).to.equal(rows[0].name);
    });

    it('on a blocked domain is SITE_BLOCKED, for a dry run too', async () => {
        const site = newSite();
        published(await maker.publish(aPackage(site)));
        await sites.blockDomain(world.app.db, site, 'asked to');
        for (const query of ['', '?dry_run=true']) {
            const refused = await maker.publish(aPackage(`sub.${site}`), query);
            expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'SITE_BLOCKED']);
        }
        await sites.unblockDomain(world.app.db, site);
        expect((await maker.publish(aPackage(site, { title: 'Back' }))).status).to.equal(201);
    });

    it('earns 50 credits once for each registrable domain, whoever publishes; for two domains at once, for others later', async () => {
        const author = await join(world);
        const start = await balanceOf(author);
        const site = newSite();
        expect(published(await author.publish(aPackage(site))).credits_earned).to.equal(50);
        for (const again of [aPackage(site, { title: 'Second' }), aPackage(`api.${site}`)]) {
            expect(published(await author.publish(again)).credits_earned).to.equal(0);
        }
        expect(await balanceOf(author)).to.equal(start + 50);
        const earned: number[] = [];
        for (let count = 0; count < 10; count++) {
            const { credits_earned: credits, warnings } = published(await author.publish(aPackage(newSite())));
            earned.push(credits);
            if (credits === 0) expect(warnings.map(({ code }) => code)).to.include('BONUS_OWED');
        }
        expect(earned).to.deep.equal([50, ...Array(9).fill(0)]);
        expect(await balanceOf(author)).to.equal(start + 100);
    });

    it('is limited to 60 new versions an hour, not counting unchanged ones and dry runs', async () => {
        const author = await join(world);
        const site = newSite();
        for (let count = 1; count <= 60; count++)
            expect((await author.publish(aPackage(site, { title: `Title ${count}` }))).status).to.equal(201);
        const refused = await author.publish(aPackage(site, { title: 'One too many' }));
        expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
        expect(Number(refused.headers.get('retry-after'))).to.be.within(3500, 3600);
        expect((await author.publish(aPackage(site, { title: 'Title 60' }))).status).to.equal(200);
        expect((await author.publish(aPackage(site, { title: 'Tried' }), '?dry_run=true')).status).to.equal(200);
        await world.clock.advance({ seconds: Number(refused.headers.get('retry-after')) });
        expect((await author.publish(aPackage(site, { title: 'One too many' }))).status).to.equal(201);
    });

    it('is limited to 20 new sites a day', async () => {
        const author = await join(world);
        for (let count = 1; count <= 20; count++) expect((await author.publish(aPackage(newSite()))).status).to.equal(201);
        const refused = await author.publish(aPackage(newSite()));
        expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
        expect(Number(refused.headers.get('retry-after'))).to.be.within(86_000, 86_400);
        expect((await maker.publish(aPackage(newSite()))).status).to.equal(201);
    });

    it('of the same new package by eight concurrent calls stores it once', async () => {
        const site = newSite();
        const answers = await Promise.all(Array.from({ length: 8 }, () => inTurn(() => maker.publish(aPackage(site)))));
        expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([...Array(7).fill(200), 201]);
        expect(answers.map((answer) => published(answer).version)).to.deep.equal(Array(8).fill(1));
    });
});

describe('publishing, with either store of counters', () => {
    for (const topology of ANY_TOPOLOGY) {
        it(`is not a counted call, with counters in ${topology}`, async () => {
            const world = await openWorld({ topology, workers: 0 });
            try {
                const maker = await join(world);
                const answer = await maker.publish(aPackage('shop.test'));
                expect(answer.headers.has('ratelimit')).to.equal(false);
                const { limits } = dataOf<{ limits: { limit: number; remaining: number }[] }>(await maker.call('GET', '/v1/account'));
                for (const { limit, remaining } of limits) expect(remaining).to.equal(limit);
            } finally {
                await world.close();
            }
        });
    }
});
