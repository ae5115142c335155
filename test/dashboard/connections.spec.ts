import { expect } from 'chai';
import { beginSession } from '../../shared/store/accounts/user-sessions.ts';
import { API_KEY, connectedPackage } from '../support/connections.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';
import { type Visitor, visitor } from './support/visitor.ts';

const SITE = 'paged.test';

describe('the page of connections', () => {
    let world: World;
    let site: Site;
    let owner: Person;
    let browser: Visitor;

    before(async () => {
        site = await openSite((request, response) => {
            const status = request.headers['x-api-key'] === 'the-good-key-4711' ? 200 : 401;
            response.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true}');
        });
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        owner = await join(world, { plan: 'pro' });
        const auth = [{ ...API_KEY, test: 'mine' }];
        dataOf(await owner.publish(connectedPackage(SITE, { auth, base: `http://${SITE}:${site.port}` })));
        browser = visitor(world);
        const session = { userId: owner.userId, browser: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0', address: '127.0.0.1' };
        browser.cookies.set('routebook_session', await beginSession(world.app.db, session));
    });
    after(async () => {
        await world.close();
        await site.close();
    });

    it('connects, tests and deletes, and never shows the value again', async () => {
        const wrong = await browser.send('/dashboard/connections', { site: SITE, secret: 'a-wrong-key-of-mine' });
        expect(wrong.status).to.equal(422);
        expect(wrong.html).to.include('rejects this credential').and.not.to.include('a-wrong-key-of-mine');
        const made = await browser.send('/dashboard/connections', { site: SITE, secret: 'the-good-key-4711' });
        expect([made.status, made.to]).to.deep.equal([303, '/dashboard/connections']);
        const { html } = await browser.get('/dashboard/connections');
        expect(html).to.include(SITE).and.to.include('active').and.not.to.include('the-good-key-4711');
        dataOf(await owner.fetch(SITE, 'mine'));
        const [{ connection_id: id } = { connection_id: '' }] = dataOf<{ connection_id: string }[]>(
            await owner.call('GET', '/v1/connections'),
        );
        expect((await browser.send(`/dashboard/connections/${id}/test`)).status).to.equal(303);
        expect((await browser.send(`/dashboard/connections/${id}/delete`)).status).to.equal(303);
        expect(codeOf(await owner.fetch(SITE, 'mine'))).to.equal('CONNECTION_REQUIRED');
    });

    it('accepts redirect URLs only with https or on loopback', async () => {
        const set = (redirects: string) => browser.send('/dashboard/connections/redirects', { redirects });
        expect((await set('http://app.example.com/done')).status).to.equal(422);
        expect((await set('https://app.example.com/done\nhttp://127.0.0.1:3000/done')).status).to.equal(303);
        expect((await browser.get('/dashboard/connections')).html).to.include('http://127.0.0.1:3000/done');
    });
});
