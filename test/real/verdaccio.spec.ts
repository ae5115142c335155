import { readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';
import { PACKAGES, packagesPackage, publication, README, sha1 } from './support/packages-package.ts';
import { type RealServer, startVerdaccio } from './support/real-server.ts';

const metaOf = ({ body }: Answer) => body['meta'] as { credits_used: number; results: number; truncated: boolean };
const errorOf = ({ body }: Answer) => body['error'] as Record<string, unknown>;

for (const topology of TOPOLOGIES) {
    describe(`verdaccio behind a hosted fetch, with queue and limits in ${topology}`, () => {
        let server: RealServer;
        let world: World;
        let ada: Person;

        before(async () => {
            [server, world] = await Promise.all([
                startVerdaccio(),
                openWorld({ topology, config: { egressHosts: new Map([[`npm.${PACKAGES}`, ['127.0.0.1']]]) } }),
            ]);
            ada = await join(world, { plan: 'pro' });
            const published = await ada.publish(packagesPackage(server.port));
            expect(published.status, JSON.stringify(published.body)).to.equal(201);
        });

        after(async () => {
            await world.close();
            await server.stop();
        });

        const call = (endpoint: string, params: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
            ada.fetch(PACKAGES, endpoint, params, more);
        const heldFile = (...path: string[]) => readFileSync(joinPath(server.folder, ...path));
        /** Verdaccio counts the writes of a package in its revision. */
        const writesOf = async (name: string) =>
            Number.parseInt(((await server.ask(`/${encodeURIComponent(name)}`)) as { _rev: string })._rev, 10);

        const bytesFromSites = async () => {
            const { values } = await world.app.metrics.upstreamBytes.get();
            return values.find(({ labels }) => labels.direction === 'in')?.value ?? 0;
        };

        it('answers a ping', async () => {
            const answer = await call('ping');
            expect(dataOf(answer)).to.deep.equal({});
            expect(metaOf(answer)).to.include({ credits_used: 1 });
        });

        it('finds nothing before anything was published, for nothing', async () => {
            const answer = await call('search_packages', { text: 'parts' });
            expect(dataOf(answer)).to.deep.equal({ items: [] });
            expect(metaOf(answer)).to.include({ credits_used: 0, results: 0 });
            const missing = await call('read_package', { package: '@acme/parts' });
            expect(errorOf(missing)).to.include({ code: 'UPSTREAM_STATUS', retryable: false });
            expect((errorOf(missing)['upstream'] as { snippet: string }).snippet).to.include('no such package');
        });

        it('publishes a scoped package and a plain one, each with one request, and the registry holds them', async () => {
            for (const [name, tarball] of [
                ['@acme/parts', 'nuts'],
                ['gears', 'cogs'],
            ] as const) {
                const answer = await call('publish_package', publication(name, '1.0.0', { description: `${tarball} & more`, tarball }));
                expect(dataOf(answer)).to.deep.equal({ said: 'created new package' });
                expect(metaOf(answer)).to.include({ credits_used: 1 });
                expect(heldFile('storage', name, `${name.replace('@acme/', '')}-1.0.0.tgz`).toString()).to.equal(tarball);
            }
            expect(await server.logged('PUT /%40acme%2Fparts')).to.equal(1);
            expect(await server.logged('PUT /gears')).to.equal(1);
            const held = JSON.parse(heldFile('storage', '@acme/parts', 'package.json').toString());
            expect(held.versions['1.0.0'].description).to.equal('nuts & more');
        });

        it('refuses the same version again, and tells in the words of the registry', async () => {
            const writes = await writesOf('gears');
            const answer = await call('publish_package', publication('gears', '1.0.0', { description: 'other', tarball: 'other' }));
            expect(errorOf(answer)).to.include({ code: 'UPSTREAM_STATUS', retryable: false });
            expect(errorOf(answer)['upstream']).to.include({ status: 409 });
            expect(await writesOf('gears')).to.equal(writes);
            expect(heldFile('storage', 'gears', 'gears-1.0.0.tgz').toString()).to.equal('cogs');
        });

        it('reads packages and versions, scoped names as one segment of the path', async () => {
            const asked = await server.logged('GET /%40acme%2Fparts');
            const received = await bytesFromSites();
            const read = dataOf(await call('read_package', { package: '@acme/parts' }));
            expect(read).to.include({ name: '@acme/parts', latest: '1.0.0' });
            expect(read['versions']).to.deep.equal(['1.0.0']);
            expect(read['readme'] === README, 'the whole readme').to.equal(true);
            expect((await bytesFromSites()) - received, 'it came packed').to.be.lessThan(README.length);
            expect(dataOf(await call('read_version', { package: 'gears', version: '1.0.0' }))).to.deep.equal({
                name: 'gears',
                version: '1.0.0',
                keywords: ['hardware'],
                shasum: sha1('cogs'),
            });
            expect(await server.logged('GET /%40acme%2Fparts')).to.equal(asked + 1);
        });

        it('downloads a text that the registry calls bytes', async () => {
            expect(dataOf(await call('download', { package: 'gears', file: 'gears-1.0.0.tgz' }))).to.deep.equal({ value: 'cogs' });
        });

        it('bills a search by its results', async () => {
            const all = await call('search_packages', { text: '& more' });
            const names = dataOf<{ items: { name: string }[] }>(all).items.map(({ name }) => name);
            expect(names.sort()).to.deep.equal(['@acme/parts', 'gears']);
            expect(metaOf(all)).to.include({ credits_used: 2, results: 2, truncated: false });
            const one = await call('search_packages', { text: 'gears' });
            expect(dataOf(one)).to.deep.equal({ items: [{ name: 'gears', description: 'cogs & more' }] });
            const capped = await call('search_packages', { text: '& more' }, { max_credits: 1 });
            expect(metaOf(capped)).to.include({ credits_used: 1, results: 1, truncated: true });
            const paged = await call('search_packages', { text: '& more', size: 1, from: 1 });
            expect(metaOf(paged)).to.include({ credits_used: 1, results: 1, truncated: false });
        });

        it('sets and removes a tag, one write each', async () => {
            const writes = await writesOf('@acme/parts');
            const tag = { package: '@acme/parts', tag: 'beta' };
            expect(dataOf(await call('set_tag', { ...tag, version: '1.0.0' }))).to.deep.equal({ ok: 'package tagged' });
            expect(dataOf(await call('read_tags', { package: '@acme/parts' }))).to.deep.equal({ latest: '1.0.0', beta: '1.0.0' });
            expect((await writesOf('@acme/parts')) - writes).to.equal(1);
            await call('remove_tag', tag);
            expect(await server.ask('/-/package/@acme%2Fparts/dist-tags')).to.deep.equal({ latest: '1.0.0' });
            expect((await writesOf('@acme/parts')) - writes).to.equal(2);
            expect(await server.logged('PUT /-/package/%40acme%2Fparts/dist-tags/beta')).to.equal(1);
            expect(await server.logged('DELETE /-/package/%40acme%2Fparts/dist-tags/beta')).to.equal(1);
        });

        it('adds a user once, hands out no token, and logs no password', async () => {
            const account = { user: 'ada', name: 'ada', password: 'loop-the-loop' };
            expect(dataOf(await call('add_user', account))).to.deep.equal({ said: "user 'ada' created" });
            const again = await call('add_user', { ...account, password: 'another-one' });
            expect(errorOf(again)).to.include({ code: 'UPSTREAM_STATUS', retryable: false });
            expect(errorOf(again)['upstream']).to.include({ status: 401 });
            const users = heldFile('htpasswd').toString().trim().split('\n');
            expect(users).to.have.length(1);
            expect(users[0]).to.match(/^ada:/);
            expect(JSON.stringify(world.logged)).to.not.include('loop-the-loop').and.not.include('another-one');
        });

        it('reads the front page, as a page and as fields', async () => {
            const page = dataOf<{ url: string; title: string }>(await call('open_front_page'));
            expect(page).to.include({ url: `http://npm.${PACKAGES}:${server.port}/`, title: 'Verdaccio' });
            const fields = dataOf<{ title: string; scripts: string[] }>(await call('list_scripts'));
            expect(fields.title).to.equal('Verdaccio');
            expect(fields.scripts).to.include(`http://npm.${PACKAGES}:${server.port}/-/static/ui-options.js`);
        });

        it('cannot be led elsewhere by a param', async () => {
            const { credits } = dataOf<{ credits: { balance: number } }>(await ada.call('GET', '/v1/account'));
            for (const name of ['..', '.', ''])
                expect(codeOf(await call('read_package', { package: name })), name).to.equal('INVALID_PARAMS');
            const odd = await call('read_package', { package: '../-/ping?x=1#y' });
            expect(errorOf(odd)).to.include({ code: 'UPSTREAM_STATUS' });
            expect(dataOf<{ credits: object }>(await ada.call('GET', '/v1/account')).credits).to.deep.equal(credits);
        });
    });
}
