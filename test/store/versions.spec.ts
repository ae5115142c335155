import { expect } from 'chai';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { cardOf } from '../../shared/store/registry/cards.ts';
import type { Publisher } from '../../shared/store/registry/publication.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { createLatest, findLatest, type SiteQuestion } from '../../shared/store/registry/site-states.ts';
import { setDomain } from '../../shared/store/registry/sites.ts';
import { createVersions, lowestMaxUnits } from '../../shared/store/registry/versions.ts';
import { yank } from '../../shared/store/registry/yank.ts';
import { advanceClock } from '../support/clock.ts';
import { accepted, contributor, orderOf, packageOf, registrableOf, useDatabase } from './registry.ts';

describe('versions of a site', () => {
    const opened = useDatabase();

    const ask = (site: string, version?: number): SiteQuestion => ({ site, registrable: registrableOf(site), version });
    const publishAs = async (publisher: Publisher, site: string, ...texts: string[]) => {
        const published = [];
        for (const text of texts) published.push(accepted(await publishPackage(opened.db, orderOf(packageOf(site, text), publisher))));
        return published;
    };
    const advance = (days: number) => advanceClock(opened.db, days * 86_400_000);

    it('are effective at once, and each is found by its number', async () => {
        const latest = createLatest(opened.db);
        const publisher = await contributor(opened.db);
        expect(await latest.find(ask('fresh.example'))).to.include({
            isKnown: false,
            version: undefined,
            siteCredits: 1,
            isBlocked: false,
        });
        await publishAs(publisher, 'fresh.example', 'one');
        expect((await latest.find(ask('fresh.example'))).version).to.include({ version: 1, verifiedAt: null, yankReason: null });
        await publishAs(publisher, 'fresh.example', 'two');
        expect((await latest.find(ask('fresh.example'))).version?.version).to.equal(2);
        expect((await latest.find(ask('fresh.example', 1))).version?.version).to.equal(1);
        expect(await latest.find(ask('fresh.example', 3))).to.include({ isKnown: true, version: undefined });
    });

    it('are one query for all callers of a turn', async () => {
        await publishAs(await contributor(opened.db), 'crowd.example', 'one');
        let queries = 0;
        const count = () => queries++;
        const latest = createLatest(opened.db);
        opened.db.on('query', count);
        const found = await Promise.all(
            Array.from({ length: 200 }, (_, i) => latest.find(ask(i % 2 === 0 ? 'crowd.example' : `no${i}.example`))),
        );
        opened.db.removeListener('query', count);
        expect(queries).to.equal(1);
        for (const [i, siteState] of found.entries()) expect(siteState.isKnown, `caller ${i}`).to.equal(i % 2 === 0);
    });

    it('take price, share and rate from the registrable domain', async () => {
        await publishAs(await contributor(opened.db), 'shop.dear.example', 'one');
        await opened.db.transaction((trx) => setDomain(trx, 'dear.example', { credits: 5, concurrency: 3, rate: 0.5 }));
        expect(await findLatest(opened.db, ask('shop.dear.example'))).to.include({
            siteCredits: 5,
            siteConcurrency: 3,
            siteRate: 0.5,
        });
    });

    it('keep the time of the first yank when it is repeated with another reason', async () => {
        await publishAs(await contributor(opened.db), 'twice.example', 'one');
        const first = await yank(opened.db, 'twice.example', 1, 'broken');
        const second = await yank(opened.db, 'twice.example', 1, 'legal');
        expect(second?.yankReason).to.equal('legal');
        expect(second?.yankedAt).to.deep.equal(first?.yankedAt);
    });

    it('are read several at a time for the price of a site that published often', async () => {
        const texts = Array.from({ length: 20 }, (_, i) => `text ${i}`);
        await publishAs(await contributor(opened.db), 'often.example', ...texts);
        const { latestOfDay } = await findLatest(opened.db, ask('often.example'));
        expect(latestOfDay).to.have.length(20);
        let queries = 0;
        const count = () => queries++;
        opened.db.on('query', count);
        await lowestMaxUnits(createVersions(opened.db), latestOfDay, 'search');
        opened.db.removeListener('query', count);
        expect(queries).to.be.within(2, 5);
    });

    it('limit the price by all versions that were the latest within 24 hours', async () => {
        const endpoint = (max_results: number): PackageEndpoint => ({
            name: 'search',
            method: 'GET',
            url: 'https://price.example/s',
            billing: { unit: 'result', max_results },
        });
        const publisher = await contributor(opened.db);
        const versions = createVersions(opened.db);
        const publishWith = async (...endpoints: PackageEndpoint[]) =>
            accepted(await publishPackage(opened.db, orderOf(packageOf('price.example', 'p', { endpoints }), publisher)));
        await publishWith(endpoint(10));
        await publishWith(endpoint(3));
        await publishWith(endpoint(500), { name: 'other', method: 'GET', url: 'https://price.example/o' });
        const today = await findLatest(opened.db, ask('price.example'));
        expect(today.latestOfDay).to.have.length(3);
        expect(await lowestMaxUnits(versions, today.latestOfDay, 'search')).to.equal(3);
        expect(await lowestMaxUnits(versions, today.latestOfDay, 'other')).to.equal(1);
        expect(await lowestMaxUnits(versions, today.latestOfDay, 'none')).to.equal(undefined);
        await advance(1.01);
        const tomorrow = await findLatest(opened.db, ask('price.example'));
        expect(await lowestMaxUnits(versions, tomorrow.latestOfDay, 'search')).to.equal(500);
    });

    it('limit the price without being read at every call, however large and many they are', async () => {
        const publisher = await contributor(opened.db);
        const versions = createVersions(opened.db);
        for (const place of Array(10).keys()) {
            const description = `${place} `.repeat(500_000);
            accepted(await publishPackage(opened.db, orderOf(packageOf('large.example', 'one', { description }), publisher)));
        }
        const { latestOfDay } = await findLatest(opened.db, ask('large.example'));
        expect(latestOfDay).to.have.length(10);
        expect(await lowestMaxUnits(versions, latestOfDay, 'front')).to.equal(1);
        expect(await lowestMaxUnits(versions, latestOfDay, 'absent')).to.equal(undefined);
        const asked: string[] = [];
        const listen = ({ sql }: { sql: string }) => void asked.push(sql);
        opened.db.on('query', listen);
        expect(await lowestMaxUnits(versions, latestOfDay, 'front')).to.equal(1);
        expect(await lowestMaxUnits(versions, latestOfDay, 'absent')).to.equal(undefined);
        opened.db.off('query', listen);
        expect(asked).to.deep.equal([]);
    });

    it('are loaded once, with every default filled in and safe from prototype names', async () => {
        const [published] = await publishAs(await contributor(opened.db), 'loaded.example', 'one');
        const versions = createVersions(opened.db);
        const id = published?.versionId ?? 0;
        const [first, second] = await Promise.all([versions.load(id), versions.load(id)]);
        expect(first).to.equal(second);
        expect(first?.endpoints.get('front')).to.include({ kind: 'api_call', effect: 'read', hosted: true });
        expect(first?.endpoints.get('__proto__')).to.equal(undefined);
        expect(first?.endpoints.get('constructor')).to.equal(undefined);
        expect(await versions.load(2_000_000_000)).to.equal(undefined);
    });

    it('show the maintainers of the domain on the card, never by an address', async () => {
        const publisher = await contributor(opened.db);
        await publishAs(publisher, 'card.example', 'one');
        const card = await cardOf(opened.db, 'card.example');
        expect(card).to.include({ title: 'Shop one', version: 1, siteCredits: 1, intentCategory: 'commerce/product-search' });
        expect(card?.endpoints).to.deep.equal([{ name: 'front', kind: 'api_call', method: 'GET', description: '', hosted: true }]);
        expect(card?.maintainer).to.match(/^workspace-[0-9a-z]{6}$/);
    });
});
