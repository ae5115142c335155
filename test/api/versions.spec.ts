import { expect } from 'chai';
import type { PublishAnswer } from '../../shared/contracts/schemas.ts';
import type { VersionEntry } from '../../shared/contracts/versions.ts';
import { publishStarter } from '../../shared/store/registry/starter.ts';
import { yank } from '../../shared/store/registry/yank.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, paginationOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`the history of a site, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });
        let other: string;
        let maker: Person;
        let number = 0;

        before(async () => {
            other = (await world.openAnotherApi()).base;
            maker = await join(world, { plan: 'enterprise' });
        });

        const newSite = () => `history${++number}.test`;
        const list = (site: string, query = '', base = world.base) =>
            stranger(world).call('GET', `/v1/schemas/${site}/versions${query}`, { base });
        const entriesOf = (answer: Answer) => dataOf<VersionEntry[]>(answer);
        const publish = async (site: string, title: string) =>
            dataOf(await maker.publish(aPackage(site, { title }))) as unknown as PublishAnswer;

        it('describes each version, newest first', async () => {
            const site = newSite();
            const first = await publish(site, 'One');
            const more = aPackage(site, { title: 'Two', endpoints: [anEndpoint(site), anEndpoint(site, { name: 'again' })] });
            const second = dataOf(await maker.publish(more)) as unknown as PublishAnswer;
            await yank(world.app.db, site, 1, 'broken');
            const { rows } = await world.app.db.raw('select name from workspaces where id = ?', [maker.workspaceId]);
            const answer = await list(site);
            expect(entriesOf(answer)).to.deep.equal([
                {
                    version: 2,
                    version_hash: second.version_hash,
                    published_at: second.published_at,
                    published_by: rows[0].name,
                    verified: false,
                    yanked: false,
                    change: 'minor',
                    changes: { added: ['again'], removed: [], changed: [], hosts_added: [] },
                },
                {
                    version: 1,
                    version_hash: first.version_hash,
                    published_at: first.published_at,
                    published_by: rows[0].name,
                    verified: false,
                    yanked: true,
                    change: 'major',
                    changes: { added: ['product'], removed: [], changed: [], hosts_added: [site] },
                },
            ]);
            expect(paginationOf(answer)).to.deep.equal({ limit: 20, next_cursor: null, total: 2 });
            expect(JSON.stringify(answer.body)).not.to.match(/@|wsp_|usr_/);
        });

        it('names the starter registry for versions that no workspace published', async () => {
            const site = newSite();
            await publishStarter(world.app.db, aPackage(site));
            expect(entriesOf(await list(site))[0]).to.include({ version: 1, published_by: 'Routebook' });
        });

        it('returns each version of its start once, even if versions are published and yanked between pages', async () => {
            const site = newSite();
            for (let title = 1; title <= 23; title++) await publish(site, `Title ${title}`);
            const seen: number[] = [];
            let query = '?limit=4';
            for (let page = 0; query !== ''; page++) {
                const answer = await list(site, query, page % 2 === 0 ? world.base : other);
                const { limit, next_cursor: next, total } = paginationOf(answer);
                expect([limit, total]).to.deep.equal([4, 23 + page]);
                seen.push(...entriesOf(answer).map(({ version }) => version));
                query = next === null ? '' : `?limit=4&cursor=${next}`;
                await publish(site, `While walking ${page}`);
                await yank(world.app.db, site, 23 - page, 'broken');
            }
            expect(seen).to.deep.equal(Array.from({ length: 23 }, (_, index) => 23 - index));
        });

        it('ends with a last page that may be full', async () => {
            const site = newSite();
            for (let title = 1; title <= 4; title++) await publish(site, `Title ${title}`);
            const first = await list(site, '?limit=2');
            const last = await list(site, `?limit=2&cursor=${paginationOf(first).next_cursor}`);
            expect(entriesOf(last).map(({ version }) => version)).to.deep.equal([2, 1]);
            expect(paginationOf(last)).to.deep.equal({ limit: 2, next_cursor: null, total: 4 });
            const changedLimit = await list(site, `?limit=100&cursor=${paginationOf(first).next_cursor}`);
            expect(entriesOf(changedLimit).map(({ version }) => version)).to.deep.equal([2, 1]);
        });

        it('takes a cursor of this site only, in any spelling of its name, and no invented one', async () => {
            const [site, elsewhere] = [newSite(), newSite()];
            for (const name of [site, elsewhere]) for (const title of ['One', 'Two']) await publish(name, title);
            const cursor = paginationOf(await list(site, '?limit=1')).next_cursor ?? '';
            expect(entriesOf(await list(`www.${site.toUpperCase()}`, `?limit=1&cursor=${cursor}`))[0]?.version).to.equal(1);
            const flipped = cursor.replace(/^./, (char) => (char === 'A' ? 'B' : 'A'));
            for (const [name, bad] of [
                [elsewhere, cursor],
                [site, flipped],
                [site, `${cursor}x`],
                [site, cursor.slice(0, -1)],
                [site, ''],
                [site, '2'],
                [site, Buffer.from('{"before":1}').toString('base64url')],
                [site, 'x'.repeat(5000)],
                [site, '%F0%9F%98%80.x'],
            ]) {
                const refused = await list(name ?? '', `?limit=1&cursor=${bad}`);
                expect([refused.status, codeOf(refused)], `${bad}`.slice(0, 40)).to.deep.equal([400, 'INVALID_CURSOR']);
            }
            const maintainers = await stranger(world).call('GET', `/v1/schemas/${site}/maintainers?cursor=${cursor}`);
            expect(codeOf(maintainers)).to.equal('INVALID_CURSOR');
        });

        it('refuses limits out of range, and distinguishes unknown sites from invalid names', async () => {
            const site = newSite();
            await publish(site, 'One');
            for (const limit of ['0', '-1', '101', '1.5', 'x', '', '1e9'])
                expect(detailsOf(await list(site, `?limit=${limit}`)), limit).to.satisfy(([detail = '']: string[]) =>
                    detail.startsWith('/limit '),
                );
            expect(codeOf(await list('nowhere.test'))).to.equal('SITE_NOT_FOUND');
            expect(codeOf(await list('localhost'))).to.equal('INVALID_DOMAIN');
            expect(codeOf(await list(site, '?page=2'))).to.equal('VALIDATION_ERROR');
        });
    });
}
