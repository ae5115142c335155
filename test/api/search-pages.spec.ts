import { expect } from 'chai';
import type { Card } from '../../shared/contracts/schemas.ts';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, INTENT, paginationOf } from '../support/routes.ts';
import { isWhole } from '../support/sample.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const sitesOf = (answer: Answer) => dataOf<Card[]>(answer).map(({ site }) => site);

/** The number of sites before the walks, and of those published meanwhile. */
const [AT_FIRST, MORE] = isWhole ? [120, 500] : [40, 100];

describe('a paged read of the registry', () => {
    const world = useWorld({ workers: 0 });
    let maker: Person;

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
    });

    const page = (query: string) => stranger(world).call('GET', `/v1/schemas?${query}`);
    const publish = async (site: string) => void dataOf(await maker.publish(aPackage(site, { title: `Shop ${site}` })));
    async function walk(query: string) {
        const sites: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
            const answer = await page(`${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
            sites.push(...sitesOf(answer));
            cursor = paginationOf(answer).next_cursor;
        }
        return sites;
    }

    it(`returns every site that existed at its start exactly once, while ${MORE} more are published`, async () => {
        const spread = (index: number) => `${((index * 7919) % 100_003).toString(36)}-shop.test`;
        const old = Array.from({ length: AT_FIRST }, (_, index) => spread(index));
        for (const site of old) await publish(site);
        let published = 0;
        const publishing = Promise.all(
            Array.from({ length: 4 }, async (_, publisher) => {
                for (let index = AT_FIRST + publisher; index < AT_FIRST + MORE; index += 4) {
                    await publish(spread(index));
                    published += 1;
                }
            }),
        );
        let walks = 0;
        do {
            for (const query of ['sort=name&limit=7', 'q=shop&limit=9', 'limit=9', 'sort=recently_verified&limit=10']) {
                const seen = await walk(query);
                expect(new Set(seen).size, query).to.equal(seen.length);
                expect(seen, query).to.include.members(old);
            }
            walks += 1;
        } while (published < MORE);
        await publishing;
        expect(walks).to.be.above(0);
        expect(new Set(await walk('sort=name&limit=100')).size).to.equal(AT_FIRST + MORE);
        expect(paginationOf(await page('q=shop&limit=1')).total).to.equal(AT_FIRST + MORE);
    });

    it('keeps its interpretation of a mistyped word, even if a site of that name is published meanwhile', async () => {
        for (const site of ['umbrella.test', 'umbrella-two.test']) await publish(site);
        const first = await page('q=umbrela&limit=1');
        expect(sitesOf(first)).to.have.length(1);
        await publish('umbrela.test');
        const second = await page(`q=umbrela&limit=5&cursor=${paginationOf(first).next_cursor}`);
        expect([...sitesOf(first), ...sitesOf(second)]).to.include.members(['umbrella.test', 'umbrella-two.test']);
        expect(await walk('q=umbrela')).to.deep.equal(['umbrela.test']);
    });

    it('keeps the ranks of its start, even if they are recomputed, and ends when they are deleted', async () => {
        const caller = await join(world, { plan: 'enterprise' });
        const lookUp = (site: string) => caller.call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`);
        const [a, b, c] = ['umbrella.test', 'umbrella-two.test', 'umbrela.test'] as const;
        for (const site of [a, b, b, c, c, c, c]) expect((await lookUp(site)).status).to.equal(200);
        await world.app.usage.flush();
        expect(await rollUpTrending(world.app.db)).to.equal(true);
        const first = await page('limit=1');
        expect(sitesOf(first)).to.deep.equal([c]);
        const byName = paginationOf(await page('sort=name&limit=1')).next_cursor;
        for (let times = 0; times < 9; times++) await lookUp(a);
        await world.app.usage.flush();
        await world.clock.advance({ hours: 1 });
        expect(await rollUpTrending(world.app.db)).to.equal(true);
        expect(sitesOf(await page('limit=1'))).to.deep.equal([a]);
        const cursor = paginationOf(first).next_cursor;
        expect(sitesOf(await page(`limit=2&cursor=${cursor}`))).to.deep.equal([b, a]);
        await world.clock.advance({ hours: 30 });
        await rollUpTrending(world.app.db);
        expect(codeOf(await page(`limit=2&cursor=${cursor}`))).to.equal('INVALID_CURSOR');
        expect((await page(`sort=name&limit=2&cursor=${byName}`)).status, 'an order without ranks is never too old').to.equal(200);
    });
});
