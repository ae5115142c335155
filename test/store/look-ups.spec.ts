import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createLookUps, type LookUps } from '../../shared/store/registry/look-ups.ts';
import type { Publisher } from '../../shared/store/registry/publication.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { blockDomain, setDomain, unblockDomain } from '../../shared/store/registry/sites.ts';
import { createVersions } from '../../shared/store/registry/versions.ts';
import { accepted, contributor, orderOf, packageOf, registrableOf, useDatabase } from './registry.ts';

describe('look-ups of the catalog', () => {
    const opened = useDatabase();
    let lookUps: LookUps;

    before(async () => {
        lookUps = createLookUps(opened.db, createVersions(opened.db));
    });

    const find = (site: string, ...words: string[]) => lookUps.find({ site, registrable: registrableOf(site), words });
    /** Publishes as a publisher of the site's own; a maintainer publishes the next version. */
    const publish = async (site: string, text: string, publisher?: Publisher) =>
        accepted(
            await publishPackage(
                opened.db,
                orderOf(packageOf(site, text, { description: text }), publisher ?? (await contributor(opened.db))),
            ),
        );

    it('have prices and blocks of the registrable domain at once', async () => {
        await publish('shop.dear.example', 'one');
        expect(await find('shop.dear.example')).to.include({ siteCredits: 1, isBlocked: false });
        await opened.db.transaction((trx) => setDomain(trx, 'dear.example', { credits: 5 }));
        await opened.db.transaction((trx) => blockDomain(trx, 'dear.example', 'asked by its owner'));
        expect(await find('shop.dear.example')).to.include({ siteCredits: 5, isBlocked: true });
        await opened.db.transaction((trx) => unblockDomain(trx, 'dear.example'));
        expect(await find('shop.dear.example')).to.include({ isBlocked: false });
    });

    it('are one query for all callers of a turn, each with its own words', async () => {
        await publish('crowd.example', 'one');
        const learnt = [
            { site: 'crowd.example', word: 'price', endpoint: 'front', callers: 3 },
            { site: 'crowd.example', word: 'review', endpoint: 'front', callers: 2 },
        ];
        await opened.db('intent_outcomes').insert(learnt.map((row) => ({ ...row, last_at: new Date() })));
        let queries = 0;
        const count = () => queries++;
        opened.db.on('query', count);
        const found = await Promise.all([
            find('crowd.example', 'price'),
            find('crowd.example', 'review', 'nothing'),
            find('nowhere.example', 'price'),
            find('crowd.example'),
        ]);
        opened.db.removeListener('query', count);
        expect(queries).to.equal(1);
        expect(found.map(({ latest }) => latest?.ref.version)).to.deep.equal([1, 1, undefined, 1]);
        expect(found[0]?.outcomes.get('price')?.get('front')).to.equal(3);
        expect(found[1]?.outcomes.get('review')?.get('front')).to.equal(2);
        expect(found[2]?.outcomes.size).to.equal(0);
    });

    it('cache a version when it is read for the second time', async () => {
        await publish('kept.example', 'one');
        const load = async () => (await find('kept.example')).latest?.load();
        const first = await load();
        const second = await load();
        expect(second).to.not.equal(first);
        expect(second).to.deep.equal(first);
        expect(await load()).to.equal(second);
    });

    it('load a large package only if it is requested', async () => {
        // Random texts, since repeated words compress well.
        const endpoints = Array.from({ length: 200 }, (_, place) => ({
            ...{ name: `part_${place}`, method: 'GET' as const, url: `https://large.example/${place}` },
            description: randomBytes(90).toString('base64'),
        }));
        await publish('small.example', 'one');
        accepted(await publishPackage(opened.db, orderOf(packageOf('large.example', 'one', { endpoints }), await contributor(opened.db))));
        const queriesOf = async (site: string) => {
            let queries = 0;
            const count = () => queries++;
            opened.db.on('query', count);
            const { latest } = await find(site);
            const toFind = queries;
            const loaded = await latest?.load();
            opened.db.removeListener('query', count);
            return { toFind, toLoad: queries - toFind, endpoints: loaded?.inOrder.length };
        };
        expect(await queriesOf('small.example')).to.deep.equal({ toFind: 1, toLoad: 0, endpoints: 1 });
        expect(await queriesOf('large.example')).to.deep.equal({ toFind: 1, toLoad: 1, endpoints: 200 });
    });
});
