import { expect } from 'chai';
import { type NewsMail, takeNews } from '../../shared/store/accounts/workspace-news.ts';
import { deleteOldRows } from '../support/old-rows.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf, paginationOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'broken.test';

describe('a report of a problem', () => {
    const world = useWorld({ workers: 0 });
    let ada: Person;
    let bob: Person;
    let endpoint: string;

    before(async () => {
        ada = await join(world);
        bob = await join(world);
        const document = aPackage(SITE);
        endpoint = (document.endpoints[0] as { name: string }).name;
        dataOf(await ada.publish(document));
    });

    const report = (by: Person, body: object, site = SITE) => by.call('POST', `/v1/schemas/${site}/reports`, { body });
    const list = (by: Person, query = '') => by.call('GET', `/v1/schemas/${SITE}/reports${query}`);

    it('reaches the maintainers of the site, by mail and as a list, without its author', async () => {
        const answer = await report(bob, { endpoint, kind: 'wrong_result', text: 'The price is that of another product.' });
        expect(answer.status).to.equal(201);
        const made = dataOf<Record<string, unknown>>(answer);
        expect(made).to.include({ site: SITE, version: 1, endpoint, kind: 'wrong_result' });
        expect(dataOf(await list(ada))).to.deep.equal([{ ...made, text: 'The price is that of another product.' }]);
        const { rows } = await world.app.db.raw<{ rows: { line: string }[] }>('select line from workspace_news where workspace_id = ?', [
            ada.workspaceId,
        ]);
        expect(rows.map(({ line }) => line)).to.have.length(1);
        expect(rows[0]?.line).to.include(endpoint).and.to.include('The price is that of another product.');
        expect(JSON.stringify((await list(ada)).body)).to.not.include(bob.workspaceId);
    });

    it('comes in one mail an hour with those of all other sites of a workspace, whoever added it to them', async () => {
        const [owner, other] = [await join(world), await join(world)];
        const sites = ['added-shop.test', 'second-shop.test', 'third-shop.test'];
        for (const site of sites) {
            dataOf(await other.publish(aPackage(site)));
            expect((await other.call('PUT', `/v1/schemas/${site}/maintainers/${owner.workspaceId}`)).status).to.be.oneOf([200, 201]);
        }
        await world.app.db('workspace_news').where({ workspace_id: owner.workspaceId }).delete();
        for (const site of sites) expect((await report(bob, { kind: 'other', text: 'Broken.' }, site)).status).to.equal(201);
        const mails: NewsMail[] = [];
        await world.app.db.transaction(async (trx) => {
            for (let mail = await takeNews(trx); mail !== undefined; mail = await takeNews(trx)) mails.push(mail);
        });
        const { email } = await world.app.db('users').where({ id: owner.userId }).first('email');
        const mine = mails.filter(({ recipients }) => recipients.includes(email));
        expect(mine.map(({ lines }) => lines.length)).to.deep.equal([3]);
    });

    it('is one quoted line of the mail, so that nothing in it looks like a paragraph of ours', async () => {
        const [site, owner] = ['other-shop.test', await join(world)];
        dataOf(await owner.publish(aPackage(site)));
        const text = 'Broken.\n\nYour account is locked.\r\n\r\nSign in:\thttps://evil.example';
        expect((await report(bob, { kind: 'other', text }, site)).status).to.equal(201);
        const [news]: { line: string }[] = await world.app.db('workspace_news').where({ workspace_id: owner.workspaceId });
        expect(news?.line).to.include('"Broken. Your account is locked. Sign in: https://evil.example"');
        const listed = dataOf<{ text: string }[]>(await owner.call('GET', `/v1/schemas/${site}/reports`));
        expect(listed[0]?.text).to.equal(text.replaceAll('\r\n', '\n'));
    });

    it('cannot end its quotation in the mail, nor reorder the words after it', async () => {
        const [site, owner] = ['quoted-shop.test', await join(world)];
        dataOf(await owner.publish(aPackage(site)));
        const text = 'Broken." Routebook: your account is locked "\u202edekcol\u202c \u2067x\u2069';
        expect((await report(bob, { kind: 'other', text }, site)).status).to.equal(201);
        const [news]: { line: string }[] = await world.app.db('workspace_news').where({ workspace_id: owner.workspaceId });
        expect(news?.line.split(': ').slice(1).join(': ')).to.equal(`"Broken.' Routebook: your account is locked 'dekcol x"`);
    });

    it('is read by maintainers only, page by page', async () => {
        expect(codeOf(await list(bob))).to.equal('NOT_MAINTAINER');
        dataOf(await report(bob, { kind: 'other', text: 'It is slow.' }));
        const first = await list(ada, '?limit=1');
        const pagination = paginationOf(first);
        expect(pagination.total).to.equal(2);
        expect(dataOf<{ endpoint: null }[]>(first)[0]).to.include({ endpoint: null, kind: 'other' });
        const second = await list(ada, `?limit=1&cursor=${encodeURIComponent(pagination.next_cursor ?? '')}`);
        expect(dataOf<{ endpoint: string }[]>(second)[0]).to.include({ endpoint });
    });

    it('is refused if it names an unknown endpoint or has words as its kind', async () => {
        expect(codeOf(await report(bob, { kind: 'broken', text: 'x' }, 'nobody.test'))).to.equal('SITE_NOT_FOUND');
        expect(codeOf(await report(bob, { endpoint: 'nothing', kind: 'broken', text: 'x' }))).to.equal('ENDPOINT_NOT_FOUND');
        for (const body of [{ kind: 'Very broken', text: 'x' }, { kind: 'broken' }, { kind: 'broken', text: 'x'.repeat(1001) }])
            expect(codeOf(await report(bob, body))).to.equal('VALIDATION_ERROR');
    });

    it('is one of thirty an hour', async () => {
        const eve = await join(world);
        for (let number = 0; number < 30; number++) expect((await report(eve, { kind: 'other', text: 'again' })).status).to.equal(201);
        const refused = await report(eve, { kind: 'other', text: 'again' });
        expect(codeOf(refused)).to.equal('RATE_LIMITED');
        expect(JSON.stringify(refused.body)).to.include('reports');
    });

    it('is kept for 90 days', async () => {
        await world.clock.advance({ days: 89 });
        await deleteOldRows(world.app.db);
        expect(dataOf<unknown[]>(await list(ada, '?limit=100'))).to.have.length(32);
        await world.clock.advance({ days: 2 });
        await deleteOldRows(world.app.db);
        expect(dataOf(await list(ada))).to.deep.equal([]);
    });
});
