import { expect } from 'chai';
import type { VersionEntry } from '../../shared/contracts/versions.ts';
import * as store from '../../shared/store/registry/yank.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a yank, over ${topology}`, () => {
        let world: World;
        let other: string;
        let upstream: Site;
        let ada: Person;
        let number = 0;

        before(async () => {
            upstream = await openSite((request, response) => {
                response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ served: request.url }));
            });
            const names = Array.from({ length: 20 }, (_, index) => [`yank${index + 1}.test`, ['127.0.0.1']] as const);
            world = await openWorld({ topology, config: { egressHosts: new Map(names) } });
            other = (await world.openAnotherApi()).base;
            ada = await join(world, { plan: 'enterprise', overrides: { perMinute: 10_000, perHour: 10_000 } });
        });
        after(async () => {
            await world.close();
            await upstream.close();
        });

        /** A site with this many versions, which have their number in title and paths. Resolves with its name and their hashes. */
        async function publishVersions(count: number): Promise<{ site: string; hashes: string[] }> {
            const site = `yank${++number}.test`;
            const hashes: string[] = [];
            for (let version = 1; version <= count; version++)
                hashes.push(dataOf<{ version_hash: string }>(await publish(site, version)).version_hash);
            return { site, hashes };
        }
        const publish = (site: string, version: number) =>
            ada.publish(
                aPackage(site, {
                    title: `Title ${version}`,
                    endpoints: [anEndpoint(site, { url: `http://${site}:${upstream.port}/v${version}`, params: [] })],
                }),
            );
        const yank = (site: string, version: number | string, reason = 'broken', person = ada, base = world.base) =>
            person.call('POST', `/v1/schemas/${site}/versions/${version}/yank`, { body: { reason }, base });
        const unyank = (site: string, version: number | string, person = ada, base = world.base) =>
            person.call('DELETE', `/v1/schemas/${site}/versions/${version}/yank`, { base });
        const fetched = async (site: string, more: object = {}, base = world.base) => {
            const answer = await ada.call('POST', '/v1/fetch', { body: { site, endpoint: 'product', ...more }, base });
            return codeOf(answer) ?? (answer.body['data'] as { served: string }).served;
        };
        const entryOf = (answer: Answer) => dataOf(answer) as unknown as VersionEntry;
        const latestOf = (answer: Answer) => codeOf(answer) ?? dataOf<{ version: number }>(answer).version;

        /** The latest version by every route: card, package, catalog, fetch. */
        async function latestEverywhere(site: string, base: string): Promise<(string | number | undefined)[]> {
            const browse = stranger(world);
            const [card, pack, look, served] = await Promise.all([
                browse.call('GET', `/v1/schemas/${site}`, { base }),
                browse.call('GET', `/v1/schemas/${site}/package`, { base }),
                ada.call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`, { base }),
                fetched(site, {}, base),
            ]);
            const inCatalog = codeOf(look) ?? (look.body['schema'] as { version: number }).version;
            return [latestOf(card), latestOf(pack), inCatalog, served];
        }

        it('makes the next lower version the latest everywhere, in every process, with the next call', async () => {
            const { site } = await publishVersions(3);
            for (const base of [world.base, other]) expect(await latestEverywhere(site, base)).to.deep.equal([3, 3, 3, '/v3']);
            const answer = await yank(site, 3);
            expect(answer.status).to.equal(200);
            expect(entryOf(answer)).to.include({ version: 3, yanked: true, change: 'patch' });
            for (const base of [other, world.base]) expect(await latestEverywhere(site, base)).to.deep.equal([2, 2, 2, '/v2']);
            // Yanking another version does not change the latest one.
            expect(entryOf(await yank(site, 1, 'security', ada, other))).to.include({ version: 1, yanked: true });
            expect(await latestEverywhere(site, world.base)).to.deep.equal([2, 2, 2, '/v2']);
            expect(entryOf(await unyank(site, 3, ada, other))).to.include({ version: 3, yanked: false });
            for (const base of [world.base, other]) expect(await latestEverywhere(site, base)).to.deep.equal([3, 3, 3, '/v3']);
        });

        it('is 200 with the same response the second time, and so is its undo', async () => {
            const { site } = await publishVersions(2);
            const first = entryOf(await yank(site, 2));
            expect(entryOf(await yank(site, 2, 'broken', ada, other))).to.deep.equal(first);
            const last = entryOf(await unyank(site, 2));
            expect(last).to.deep.equal({ ...first, yanked: false });
            const again = await unyank(site, 2);
            expect([again.status, entryOf(again)]).to.deep.equal([200, last]);
        });

        it('of all versions makes the site unknown to callers without a version, except for its history', async () => {
            const { site } = await publishVersions(2);
            for (const version of [1, 2]) dataOf(await yank(site, version));
            for (const base of [world.base, other]) {
                expect(await latestEverywhere(site, base)).to.deep.equal(Array(4).fill('SITE_NOT_FOUND'));
            }
            const history = await stranger(world).call('GET', `/v1/schemas/${site}/versions`);
            expect(dataOf<VersionEntry[]>(history).map(({ version, yanked }) => [version, yanked])).to.deep.equal([
                [2, true],
                [1, true],
            ]);
            dataOf(await unyank(site, 1));
            expect(await latestEverywhere(site, other)).to.deep.equal([1, 1, 1, '/v1']);
            expect(dataOf(await publish(site, 3))).to.include({ version: 3 });
            expect(await latestEverywhere(site, world.base)).to.deep.equal([3, 3, 3, '/v3']);
        });

        it('keeps a broken version for callers who name it, and none that was yanked for security or legal reasons', async () => {
            const { site, hashes } = await publishVersions(4);
            for (const [version, reason] of [
                [2, 'broken'],
                [3, 'security'],
                [4, 'legal'],
            ] as const)
                dataOf(await yank(site, version, reason));
            for (const base of [world.base, other]) {
                for (const named of [2, hashes[1]]) expect(await fetched(site, { version: named }, base), `${named}`).to.equal('/v2');
                for (const named of [3, hashes[2], 4, hashes[3]]) {
                    expect(await fetched(site, { version: named }, base), `${named}`).to.equal('VERSION_NOT_FOUND');
                    expect(await fetched(site, { version: named, dry_run: true }, base)).to.equal('VERSION_NOT_FOUND');
                }
            }
            const download = async (version: number | string | undefined) =>
                latestOf(await stranger(world).call('GET', `/v1/schemas/${site}/package?version=${version}`));
            expect(await Promise.all([1, 2, hashes[1], 3, hashes[2]].map(download))).to.deep.equal([1, 2, 2, 3, 3]);
            for (const format of [
                '',
                '&format=openapi',
                '&format=tools',
                '&format=postman',
                '&format=typescript',
                '&format=python',
                '&format=bruno',
            ])
                expect(await download(`4${format}`), format).to.equal('VERSION_NOT_FOUND');
            expect(await download(hashes[3])).to.equal('VERSION_NOT_FOUND');
            // Changing the reason changes who may still use the version.
            dataOf(await yank(site, 4, 'broken'));
            expect([await fetched(site, { version: 4 }), await download(4)]).to.deep.equal(['/v4', 4]);
        });

        it('applies to stored results', async () => {
            const { site } = await publishVersions(1);
            for (let time = 0; time < 2; time++) expect(await fetched(site, { version: 1, max_age: 3600 })).to.equal('/v1');
            dataOf(await yank(site, 1, 'security'));
            expect(await fetched(site, { version: 1, max_age: 3600 })).to.equal('VERSION_NOT_FOUND');
            expect(await fetched(site, { max_age: 3600 }, other)).to.equal('SITE_NOT_FOUND');
        });

        it('is for maintainers of the domain, and for existing versions', async () => {
            const { site } = await publishVersions(1);
            const bob = await join(world);
            for (const act of [yank(site, 1, 'broken', bob), unyank(site, 1, bob), yank(site, 9, 'broken', bob)]) {
                const refused = await act;
                expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'NOT_MAINTAINER']);
            }
            expect(codeOf(await yank(site, 1, 'broken', stranger(world)))).to.equal('API_KEY_REQUIRED');
            for (const version of [2, 999_999_999]) {
                expect(codeOf(await yank(site, version))).to.equal('VERSION_NOT_FOUND');
                expect(codeOf(await unyank(site, version))).to.equal('VERSION_NOT_FOUND');
            }
            for (const version of ['0', '-1', 'latest', '1.0', '01', '9999999999', '%00', 'f'.repeat(64)])
                expect(detailsOf(await yank(site, version)), version).to.deep.equal(['/version INVALID_VALUE']);
            expect(codeOf(await yank('nowhere.test', 1))).to.equal('SITE_NOT_FOUND');
            expect(codeOf(await unyank('localhost', 1))).to.equal('INVALID_DOMAIN');
            expect(latestOf(await stranger(world).call('GET', `/v1/schemas/${site}`))).to.equal(1);
            dataOf(await ada.call('PUT', `/v1/schemas/${site}/maintainers/${bob.workspaceId}`));
            expect(entryOf(await yank(site, 1, 'broken', bob))).to.include({ yanked: true });
        });

        it('is one of sixty an hour of an account, since each is an event for all who fetched the site', async () => {
            const bob = await join(world);
            const site = `yank${++number}.test`;
            dataOf(await bob.publish(aPackage(site)));
            for (let count = 0; count < 60; count++) dataOf(await yank(site, 1, count % 2 === 0 ? 'broken' : 'security', bob));
            const refused = await yank(site, 1, 'legal', bob);
            expect(codeOf(refused)).to.equal('RATE_LIMITED');
            expect(refused.text).to.include('The window yanks is full: 60 yanks an hour of one account.');
            dataOf(await unyank(site, 1, bob));
            expect(await world.app.db('events').where({ site, type: 'schema.yanked' })).to.have.length(60);
        });

        it('needs one of the three reasons', async () => {
            const { site } = await publishVersions(1);
            const send = (body: unknown) => ada.call('POST', `/v1/schemas/${site}/versions/1/yank`, { body });
            expect(detailsOf(await send({}))).to.deep.equal(['/reason REQUIRED']);
            expect(detailsOf(await send({ reason: 'ugly' }))).to.deep.equal(['/reason INVALID_VALUE']);
            expect(detailsOf(await send({ reason: 'broken', note: 'x' }))).to.deep.equal(['/note UNKNOWN_FIELD']);
            expect(codeOf(await send('{'))).to.equal('INVALID_JSON');
            expect(codeOf(await ada.call('POST', `/v1/schemas/${site}/versions/1/yank`))).to.equal('UNSUPPORTED_MEDIA_TYPE');
        });

        it('by an operator for security or legal reasons cannot be undone by a maintainer; one as broken can', async () => {
            const { site } = await publishVersions(2);
            for (const reason of ['security', 'legal'] as const) {
                await store.yank(world.app.db, site, 2, reason);
                const refused = await unyank(site, 2);
                expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'FORBIDDEN']);
                expect(entryOf(await yank(site, 2, 'broken'))).to.include({ yanked: true });
                expect(await fetched(site, { version: 2 })).to.equal('VERSION_NOT_FOUND');
            }
            await store.unyank(world.app.db, site, 2);
            await store.yank(world.app.db, site, 2, 'broken');
            expect(entryOf(await unyank(site, 2))).to.include({ yanked: false });
            // A maintainer may undo a maintainer's yank.
            dataOf(await yank(site, 2, 'legal'));
            expect(entryOf(await unyank(site, 2))).to.include({ yanked: false });
        });

        it('by an operator for security reasons can be made legal by a maintainer, and stays the operator’s', async () => {
            const { site } = await publishVersions(2);
            await store.yank(world.app.db, site, 2, 'security');
            expect((await stranger(world).call('GET', `/v1/schemas/${site}/package?version=2`)).status).to.equal(200);
            dataOf(await yank(site, 2, 'legal'));
            expect(codeOf(await stranger(world).call('GET', `/v1/schemas/${site}/package?version=2`))).to.equal('VERSION_NOT_FOUND');
            expect(codeOf(await unyank(site, 2))).to.equal('FORBIDDEN');
        });

        it('gives content that is published again a new number', async () => {
            const { site, hashes } = await publishVersions(1);
            dataOf(await yank(site, 1, 'security'));
            expect(dataOf(await publish(site, 1))).to.include({ version: 2, created: true, version_hash: hashes[0] });
            expect(await fetched(site, { version: hashes[0] })).to.equal('/v1');
            expect(await fetched(site, { version: 1 })).to.equal('VERSION_NOT_FOUND');
        });
    });
}
