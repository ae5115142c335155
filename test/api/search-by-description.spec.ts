import { expect } from 'chai';
import type { Card } from '../../shared/contracts/schemas.ts';
import { untilIndexed } from '../support/find.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, paginationOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

describe('a search by description', () => {
    const world = useWorld({});
    let maker: Person;

    const sells = (site: string, title: string, description: string, more: object = {}) =>
        aPackage(site, { title, endpoints: [anEndpoint(site, { name: 'look_up', description })], ...more });

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
        const packages = [
            sells('almanac.test', 'Almanac', 'When the tide is high at a harbour.', { intent_category: 'weather/forecast' }),
            sells('harbours.test', 'Harbours', 'How long it takes to sail to another one.'),
            sells('ferries.test', 'Ferries', 'Which ferries leave a harbour, and when.'),
            sells('library.test', 'Library', 'Books by their title.'),
        ];
        for (const document of packages) dataOf(await maker.publish(document));
        await untilIndexed(world);
    });

    const search = (query: string) => stranger(world).call('GET', `/v1/schemas?${query}`);
    const sitesIn = (answer: Answer) => dataOf<Card[]>(answer).map(({ site }) => site);

    it('finds sites by what their endpoints do', async () => {
        expect(sitesIn(await search('q=high+tide'))).to.deep.equal(['almanac.test']);
        expect(sitesIn(await search('q=tides'))).to.deep.equal(['almanac.test']);
    });

    it('finds sites by the names of their endpoints', async () => {
        dataOf(
            await maker.publish(
                aPackage('coins.test', { endpoints: [anEndpoint('coins.test', { name: 'mint_marks', description: 'Who made it.' })] }),
            ),
        );
        await untilIndexed(world);
        expect(sitesIn(await search('q=mint+marks'))).to.deep.equal(['coins.test']);
    });

    it('ranks them after sites with a matching name, each once', async () => {
        const answer = await search('q=harbour');
        const [first, ...others] = sitesIn(answer);
        expect(first).to.equal('harbours.test');
        expect(others).to.have.members(['almanac.test', 'ferries.test']);
        expect(paginationOf(answer).total).to.equal(3);
    });

    it('returns each of them once on pages of one', async () => {
        const seen: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
            const answer: Answer = await search(`q=harbour&limit=1${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
            seen.push(...sitesIn(answer));
            cursor = paginationOf(answer).next_cursor;
        }
        expect(seen).to.deep.equal(sitesIn(await search('q=harbour')));
    });

    it('returns them in the requested order', async () => {
        expect(sitesIn(await search('q=harbour&sort=name'))).to.deep.equal(['almanac.test', 'ferries.test', 'harbours.test']);
        expect(sitesIn(await search('q=harbour&sort=recent'))).to.deep.equal(['ferries.test', 'harbours.test', 'almanac.test']);
    });

    it('narrows them by category and to verified ones', async () => {
        expect(sitesIn(await search('q=harbour&category=weather'))).to.deep.equal(['almanac.test']);
        expect(sitesIn(await search('q=harbour&verified=true'))).to.deep.equal([]);
    });

    it('still finds a mistyped name', async () => {
        expect(sitesIn(await search('q=almanak'))).to.deep.equal(['almanac.test']);
    });

    it('refuses a cursor of another search', async () => {
        const cursor = paginationOf(await search('q=harbour&limit=1')).next_cursor ?? '';
        expect(codeOf(await search(`q=tide&limit=1&cursor=${encodeURIComponent(cursor)}`))).to.equal('INVALID_CURSOR');
    });
});
