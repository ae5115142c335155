import { expect } from 'chai';
import { ROUTEBOOK_WORKSPACE } from '../../shared/domain/site/routebook.ts';
import { grantMaintainer, transferDomain } from '../../shared/store/registry/maintainer-orders.ts';
import { addMaintainer, removeMaintainer } from '../../shared/store/registry/maintainers.ts';
import { publishStarter } from '../../shared/store/registry/starter.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`sites that Routebook publishes itself, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });
        let ada: Person;

        before(async () => {
            ada = await join(world);
            await publishStarter(world.app.db, aPackage('library.test'));
        });

        const cardOf = async (site: string) => dataOf(await stranger(world).call('GET', `/v1/schemas/${site}`));
        const messageOf = ({ body }: Answer) => (body['error'] as { message: string }).message;

        it('cannot be taken over by publishing the site or a sub-site, dry runs included', async () => {
            for (const site of ['covers.library.test', 'library.test']) {
                for (const query of ['', '?dry_run=true']) {
                    const refused = await ada.publish(aPackage(site, { title: 'Mine now' }), query);
                    expect([refused.status, codeOf(refused)], `${site}${query}`).to.deep.equal([403, 'NOT_MAINTAINER']);
                    expect(messageOf(refused)).to.include('POST /v1/schema-requests').and.to.include('maintainer add');
                }
            }
            expect((await stranger(world).call('GET', '/v1/schemas/covers.library.test')).status).to.equal(404);
            expect((await cardOf('library.test'))['version']).to.equal(1);
        });

        it('name Routebook as their maintainer', async () => {
            const maintainers = await stranger(world).call('GET', '/v1/schemas/library.test/maintainers');
            expect(dataOf(maintainers)).to.deep.equal([{ workspace_id: ROUTEBOOK_WORKSPACE, name: 'Routebook' }]);
            const said = { maintainer: 'Routebook', maintainer_id: ROUTEBOOK_WORKSPACE, claim: 'operator' };
            expect(await cardOf('library.test')).to.include(said);
        });

        it('keep Routebook as maintainer whatever other maintainers request: only operators add and remove it', async () => {
            await publishStarter(world.app.db, aPackage('shared.test'));
            await grantMaintainer(world.app.db, 'shared.test', ada.workspaceId);
            const path = `/v1/schemas/shared.test/maintainers/${ROUTEBOOK_WORKSPACE}`;
            for (const method of ['PUT', 'DELETE']) {
                const refused = await ada.call(method, path);
                expect([refused.status, codeOf(refused)], method).to.deep.equal([403, 'FORBIDDEN']);
            }
            expect((await ada.publish(aPackage('shared.test', { title: 'With Ada' }))).status).to.equal(201);
            expect(await cardOf('shared.test')).to.include({ maintainer_id: ROUTEBOOK_WORKSPACE, claim: 'operator' });
        });

        it('are not changed by the next start after an owner proved the domain or an operator transferred it', async () => {
            for (const site of ['proved.test', 'given.test']) await publishStarter(world.app.db, aPackage(site));
            await addMaintainer(world.app.db, 'proved.test', ada.workspaceId);
            await world.app.db.raw('update maintainers set proven_at = app_now() where registrable = ? and workspace_id = ?', [
                'proved.test',
                ada.workspaceId,
            ]);
            await transferDomain(world.app.db, 'given.test', ada.workspaceId);
            for (const [site, outcome] of [
                ['proved.test', 'owned'],
                ['given.test', 'maintained'],
            ] as const) {
                expect(await publishStarter(world.app.db, aPackage(site, { title: 'Newer' })), site).to.deep.equal({ outcome });
                expect((await cardOf(site))['version'], site).to.equal(1);
            }
            expect((await cardOf('proved.test'))['claim']).to.equal('owner');
            expect(await cardOf('given.test')).to.include({ maintainer_id: ada.workspaceId, claim: 'operator' });
        });
    });

    describe(`the owner of a site, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });
        let ada: Person;

        before(async () => {
            ada = await join(world);
            dataOf(await ada.publish(aPackage('first.test')));
        });

        it('is marked as unproven on card, list, catalog and page if a contributor came first', async () => {
            const visitor = stranger(world);
            const card = dataOf(await visitor.call('GET', '/v1/schemas/first.test'));
            expect(card).to.include({ claim: 'unproven', maintainer_id: ada.workspaceId });
            const [listed] = dataOf<Record<string, unknown>[]>(await visitor.call('GET', '/v1/schemas?q=first'));
            expect(listed).to.deep.equal(card);
            const { body } = await visitor.call('GET', `/v1/catalog/first.test?intent=${encodeURIComponent(INTENT)}`);
            expect(body['schema']).to.include({ claim: 'unproven' });
            const page = await (await fetch(`${world.base}/registry/first.test`)).text();
            expect(page).to.include('maintained by a contributor, not by the site');
        });

        it('is shown with every host that the package calls; a version that adds a host is major and says so', async () => {
            const visitor = stranger(world);
            const site = 'hosts.test';
            const product = anEndpoint(site);
            dataOf(await ada.publish(aPackage(site, { endpoints: [product] })));
            const elsewhere = anEndpoint(site, { name: 'search', url: `https://api.${site}/search/{id}` });
            const published = dataOf(await ada.publish(aPackage(site, { endpoints: [product, elsewhere] })));
            expect(published).to.deep.include({
                change: 'major',
                changes: { added: ['search'], removed: [], changed: [], hosts_added: [`api.${site}`] },
            });
            const hosts = [`api.${site}`, site];
            expect(dataOf(await visitor.call('GET', `/v1/schemas/${site}`))['hosts']).to.deep.equal(hosts);
            const { body } = await visitor.call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`);
            expect(body['schema']).to.deep.include({ hosts });
            const pages = ['', '/versions', '/versions?from=1&to=2'].map((path) => fetch(`${world.base}/registry/${site}${path}`));
            const [page, versions, compared] = await Promise.all(pages.map(async (answer) => (await answer).text()));
            expect(page).to.include(hosts.join(', ')).and.to.include('1 new host called');
            expect(versions).to.include('1 new host called');
            expect(compared).to.include('calls hosts that version 1 does not').and.to.include(`<code>api.${site}</code>`);
        });

        it('is not marked as unproven while the workspace of an operator’s transfer maintains it', async () => {
            const bob = await join(world);
            const claim = async () => dataOf(await stranger(world).call('GET', '/v1/schemas/first.test'))['claim'];
            await transferDomain(world.app.db, 'first.test', bob.workspaceId);
            expect(await claim()).to.equal('operator');
            await addMaintainer(world.app.db, 'first.test', ada.workspaceId);
            await removeMaintainer(world.app.db, 'first.test', bob.workspaceId);
            expect(await claim()).to.equal('unproven');
        });
    });
}
