import { expect } from 'chai';
import type { MaintainerEntry } from '../../shared/contracts/maintainers.ts';
import { ROUTEBOOK_WORKSPACE } from '../../shared/domain/site/routebook.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { publishStarter } from '../../shared/store/registry/starter.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, paginationOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`maintainers of a domain, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });
        let other: string;
        let ada: Person;
        let bob: Person;
        let eve: Person;
        let number = 0;

        before(async () => {
            other = (await world.openAnotherApi()).base;
            [ada, bob, eve] = await Promise.all([join(world, { plan: 'enterprise' }), join(world), join(world)]);
        });
        // One owner may add five strangers an hour (maintainer-mails.spec.ts). These tests add more.
        beforeEach(() => world.app.db.raw('delete from attempts'));

        const newSite = async () => {
            const site = `kept${++number}.test`;
            dataOf(await ada.publish(aPackage(site)));
            return site;
        };
        const list = (site: string, query = '') => stranger(world).call('GET', `/v1/schemas/${site}/maintainers${query}`);
        const change = (method: 'PUT' | 'DELETE', by: Person, site: string, { workspaceId }: { workspaceId: string }, base = world.base) =>
            by.call(method, `/v1/schemas/${site}/maintainers/${workspaceId}`, { base });
        const idsOf = (answer: Answer) => dataOf<MaintainerEntry[]>(answer).map(({ workspace_id: id }) => id);
        const idsAt = async (site: string) => idsOf(await list(site));

        it('start with the workspace that published first, with id and name only', async () => {
            const site = await newSite();
            const { rows } = await world.app.db.raw('select name from workspaces where id = ?', [ada.workspaceId]);
            const answer = await list(site);
            expect(dataOf(answer)).to.deep.equal([{ workspace_id: ada.workspaceId, name: rows[0].name }]);
            expect(answer.body['meta']).to.deep.equal({ pagination: { limit: 20, next_cursor: null, total: 1 } });
            expect(JSON.stringify(answer.body)).not.to.include('@');
        });

        it('are Routebook for a site of the starter registry, which no contributor may change', async () => {
            await publishStarter(world.app.db, aPackage('starter.test'));
            expect(await idsAt('starter.test')).to.deep.equal([ROUTEBOOK_WORKSPACE]);
            expect(codeOf(await change('PUT', ada, 'starter.test', ada))).to.equal('NOT_MAINTAINER');
        });

        it('are changed by the path only: a body with fields is refused, an empty one or none is accepted', async () => {
            const site = await newSite();
            const send = (method: 'PUT' | 'DELETE', query: string, options: { body?: string; headers?: Record<string, string> }) =>
                ada.call(method, `/v1/schemas/${site}/maintainers/${bob.workspaceId}${query}`, options);
            for (const method of ['PUT', 'DELETE'] as const) {
                const refused = await send(method, '?y=1', { body: '{"x":1,"note":"a\\u0000b"}' });
                expect([refused.status, codeOf(refused)], method).to.deep.equal([400, 'VALIDATION_ERROR']);
                expect(detailsOf(refused), method).to.have.members([
                    '/y UNKNOWN_FIELD',
                    '/x UNKNOWN_FIELD',
                    '/note UNKNOWN_FIELD',
                    '/note INVALID_VALUE',
                ]);
                for (const body of ['[]', 'null', '7'])
                    expect(detailsOf(await send(method, '', { body })), `${method} ${body}`).to.deep.equal([' INVALID_TYPE']);
                expect(codeOf(await send(method, '', { body: '{"x":' })), method).to.equal('INVALID_JSON');
            }
            expect(await idsAt(site)).to.deep.equal([ada.workspaceId]);
            const json = { 'content-type': 'application/json' };
            const form = { 'content-type': 'application/x-www-form-urlencoded' };
            for (const options of [{}, { headers: json }, { body: '{}' }, { body: 'x=1', headers: form }]) {
                expect((await send('PUT', '', options)).status, JSON.stringify(options)).to.equal(200);
                expect((await send('DELETE', '', options)).status, JSON.stringify(options)).to.equal(200);
            }
        });

        it('add workspaces, which may publish at once, until they leave', async () => {
            const site = await newSite();
            const added = await change('PUT', ada, site, bob);
            expect(added.status).to.equal(200);
            expect(idsOf(added)).to.deep.equal([ada.workspaceId, bob.workspaceId]);
            expect(added.body['meta']).to.deep.equal({ pagination: { limit: 20, next_cursor: null, total: 2 } });
            const theirs = await bob.call('POST', '/v1/schemas', { body: aPackage(site, { title: 'By Bob' }), base: other });
            expect(theirs.status).to.equal(201);
            expect(await idsAt(`new.${site}`).catch(() => 'not published')).to.equal('not published');
            expect((await bob.publish(aPackage(`new.${site}`))).status).to.equal(201);
            expect(await idsAt(`new.${site}`)).to.deep.equal([ada.workspaceId, bob.workspaceId]);
            // The maintainer who was added also adds others, on another site of the same owner.
            expect(idsOf(await change('PUT', bob, `new.${site}`, eve))).to.have.members(
                [ada, bob, eve].map(({ workspaceId }) => workspaceId),
            );
            const left = await change('DELETE', bob, site, bob);
            expect(idsOf(left)).to.deep.equal([ada.workspaceId, eve.workspaceId]);
            const late = await bob.call('POST', '/v1/schemas', { body: aPackage(site, { title: 'Late' }), base: other });
            expect(codeOf(late)).to.equal('NOT_MAINTAINER');
            expect(codeOf(await change('PUT', bob, site, bob, other))).to.equal('NOT_MAINTAINER');
        });

        it('may be added and removed twice without effect', async () => {
            const site = await newSite();
            for (let time = 0; time < 2; time++) {
                const added = await change('PUT', ada, site, bob);
                expect([added.status, idsOf(added)]).to.deep.equal([200, [ada.workspaceId, bob.workspaceId]]);
            }
            dataOf(await change('DELETE', bob, site, bob));
            const removed = await change('DELETE', ada, site, bob);
            expect([removed.status, idsOf(removed)]).to.deep.equal([200, [ada.workspaceId]]);
        });

        it('may leave, except for the last one', async () => {
            const site = await newSite();
            const refused = await change('DELETE', ada, site, ada);
            expect([refused.status, codeOf(refused)]).to.deep.equal([409, 'LAST_MAINTAINER']);
            await change('PUT', ada, site, bob);
            expect(idsOf(await change('DELETE', ada, site, ada))).to.deep.equal([bob.workspaceId]);
            expect(codeOf(await change('DELETE', ada, site, bob))).to.equal('NOT_MAINTAINER');
            expect(codeOf(await change('DELETE', bob, site, bob))).to.equal('LAST_MAINTAINER');
            expect(await idsAt(site)).to.deep.equal([bob.workspaceId]);
        });

        it('cannot all be gone after removing each other and themselves at the same moment', async () => {
            for (let round = 0; round < 10; round++) {
                const site = await newSite();
                await change('PUT', ada, site, bob);
                const answers = await Promise.all([
                    change('DELETE', ada, site, bob),
                    change('DELETE', bob, site, ada, other),
                    change('DELETE', ada, site, ada, other),
                    change('DELETE', bob, site, bob),
                ]);
                expect(await idsAt(site), answers.map(({ status }) => status).join()).to.have.length(1);
                expect(answers.filter(({ status }) => status === 200).length).to.be.greaterThan(0);
            }
        });

        it('are changed by maintainers only; others learn nothing about workspaces', async () => {
            const site = await newSite();
            for (const method of ['PUT', 'DELETE'] as const) {
                for (const target of [ada, eve, { workspaceId: newId('wsp') }]) {
                    const refused = await change(method, eve, site, target);
                    expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'NOT_MAINTAINER']);
                }
                expect(codeOf(await change(method, stranger(world), site, eve))).to.equal('API_KEY_REQUIRED');
            }
            expect(await idsAt(site)).to.deep.equal([ada.workspaceId]);
        });

        it('answer 404 for an unknown workspace or site', async () => {
            const site = await newSite();
            for (const workspaceId of [newId('wsp'), 'wsp_', 'x', ada.userId, 'a%00b', '%E2%80%AE', "';--", 'w'.repeat(3000)]) {
                for (const method of ['PUT', 'DELETE'] as const) {
                    const refused = await change(method, ada, site, { workspaceId });
                    expect([refused.status, codeOf(refused)], workspaceId.slice(0, 40)).to.deep.equal([404, 'NOT_FOUND']);
                }
            }
            expect(codeOf(await list('nowhere.test'))).to.equal('SITE_NOT_FOUND');
            expect(codeOf(await change('PUT', ada, 'nowhere.test', bob))).to.equal('SITE_NOT_FOUND');
            expect(codeOf(await change('PUT', ada, 'localhost', bob))).to.equal('INVALID_DOMAIN');
        });

        it('are listed page by page, in the order of their addition', async () => {
            const site = await newSite();
            const people = await Promise.all(Array.from({ length: 8 }, () => join(world)));
            for (const person of people) {
                await world.app.db.raw('delete from attempts');
                dataOf(await change('PUT', ada, site, person));
            }
            const seen: string[] = [];
            for (let query = '?limit=3'; query !== ''; ) {
                const answer = await list(site, query);
                const { next_cursor: next, total } = paginationOf(answer);
                expect(total).to.equal(9 - (seen.length > 0 ? 1 : 0));
                seen.push(...idsOf(answer));
                query = next === null ? '' : `?limit=3&cursor=${next}`;
                // Removes the workspace at which the page ended.
                if (seen.length === 3) dataOf(await change('DELETE', people[1] ?? ada, site, people[1] ?? ada));
            }
            expect(seen).to.deep.equal([ada, ...people].map(({ workspaceId }) => workspaceId));
        });

        it('are listed further with the cursor of the response to an addition', async () => {
            const site = await newSite();
            const people = await Promise.all(Array.from({ length: 21 }, () => join(world)));
            const [last, ...others] = people;
            const rows = others.map(({ workspaceId }) => ({ registrable: site, workspace_id: workspaceId }));
            await world.app.db('maintainers').insert(rows);
            await world.app.db.raw('delete from attempts');
            const { next_cursor: next } = paginationOf(await change('PUT', ada, site, last ?? ada));
            const answer = await list(site, `?cursor=${next}`);
            expect([answer.status, idsOf(answer).length]).to.deep.equal([200, 2]);
        });
    });
}
