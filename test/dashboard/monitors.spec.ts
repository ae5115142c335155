import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { findSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { eventually } from '../support/eventually.ts';
import { join as joinWorld, type Person, withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab } from './support/browser.ts';
import { signUp, type Visitor, wordsOf } from './support/visitor.ts';

const SITE = 'prices.test';
const NEW = `/dashboard/monitors/new?site=${SITE}&endpoint=list`;

describe('monitors on the dashboard', () => {
    let world: World;
    let site: Server;
    let ada: Visitor;
    let caller: Person;
    let items: object[] = [];

    before(async () => {
        site = createServer((_request, response) => {
            response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items }));
        }).listen(0, '127.0.0.1');
        await once(site, 'listening');
        const { port } = site.address() as AddressInfo;
        world = await openWorld({ workers: 1, config: { trustProxy: 1, egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        const url = `http://${SITE}:${port}/list`;
        const endpoints = [
            anEndpoint(SITE, {
                name: 'list',
                url,
                params: [{ name: 'q', source: 'query', required: true, description: 'What to look for.' }],
            }),
            anEndpoint(SITE, { name: 'order', method: 'POST', url, effect: 'write', params: [] }),
        ];
        dataOf(await (await joinWorld(world)).publish(aPackage(SITE, { endpoints })));
        ada = await signUp(world);
        const me = await findSignedIn(world.app.db, ada.cookies.get('routebook_session') ?? '');
        const [workspaceId, userId] = [me?.current?.workspaceId ?? '', me?.userId ?? ''];
        await world.app.db.raw('update users set verified_at = app_now() where id = ?', [userId]);
        caller = withKey(world, (await createKey(world.app.db, { workspaceId, userId, name: 'laptop' })).apiKey);
    });
    beforeEach(() => {
        items = [{ id: 1, price: 5 }];
    });
    after(async () => {
        await world?.close();
        site?.close();
    });

    const keyIn = (html: string) => /<(?:option|input type="hidden" name="key") value="(key_\w+)"/.exec(html)?.[1] ?? '';
    const fieldsOf = async () => ({
        key: keyIn((await ada.get(NEW)).html),
        ...{
            site: SITE,
            endpoint: 'list',
            name: 'Prices',
            'param-0': 'shoes',
            every: '1h',
            watch: 'items',
            identity: 'id',
            when: 'changed',
        },
    });
    const add = async (more: Record<string, string> = {}) => ada.send(NEW, { ...(await fieldsOf()), ...more }, { from: NEW });
    const untilRuns = (id: string, runs: number) =>
        eventually(
            async () =>
                dataOf<{ status: string }[]>(await caller.call('GET', `/v1/monitors/${id}/runs`)).filter(
                    ({ status }) => status !== 'running',
                ).length,
            (ended) => ended >= runs,
            30_000,
        );
    const remove = async () => {
        for (const { monitor_id: id } of dataOf<{ monitor_id: string }[]>(await caller.call('GET', '/v1/monitors'))) {
            await caller.call('DELETE', `/v1/monitors/${id}`);
        }
    };
    afterEach(remove);
    /** A monitor whose second run found one item more and another price. */
    const changed = async () => {
        const made = await add();
        expect(made.to, wordsOf(made.html)).to.match(/^\/dashboard\/monitors\/mon_/);
        const at = made.to ?? '';
        const id = at.split('/').at(-1) ?? '';
        await untilRuns(id, 1);
        items = [
            { id: 1, price: 6 },
            { id: 2, name: '<b>new</b>' },
        ];
        const page = await ada.get(at);
        expect((await ada.send(`${at}/run`, { key: keyIn(page.html) }, { from: at })).to).to.equal(at);
        await untilRuns(id, 2);
        return { id, at };
    };

    it('are added for an endpoint that reads, with its params, and show what changed', async () => {
        expect(wordsOf((await ada.get('/dashboard/monitors')).html)).to.include('No monitors yet');
        const { at } = await changed();
        const shown = await ada.get(at);
        const words = wordsOf(shown.html);
        expect(words).to.include('every hour').and.include('1 added').and.include('1 changed').and.include('/0/price').and.include('shoes');
        expect(shown.html).to.include('&lt;b&gt;new').and.not.include('<b>new');
        expect(words).to.include('add a webhook');
        expect((await ada.get('/dashboard/webhooks?events=monitor.*')).html).to.include('value="monitor.*"');
        expect(wordsOf((await ada.get('/dashboard/monitors')).html))
            .to.include('Prices')
            .and.include('changed');
    });

    it('are paused, resumed and deleted', async () => {
        const { at } = await changed();
        const key = keyIn((await ada.get(at)).html);
        expect((await ada.send(`${at}/pause`, { key: 'key_nobodys' }, { from: at })).status).to.equal(409);
        expect((await ada.send(`${at}/pause`, { key }, { from: at })).to).to.equal(at);
        expect(wordsOf((await ada.get(at)).html)).to.include('paused');
        expect((await ada.send(`${at}/resume`, { key }, { from: at })).to).to.equal(at);
        expect(wordsOf((await ada.get(at)).html)).to.include('active');
        expect((await ada.send(`${at}/delete`, {}, { from: at })).to).to.equal('/dashboard/monitors');
        expect((await ada.get(at)).status).to.equal(404);
    });

    it('are refused with an error at each field, and keep what was typed', async () => {
        const said = async (more: Record<string, string>) => {
            const answer = await add(more);
            expect(answer.status, JSON.stringify(more)).to.equal(422);
            expect(answer.html).to.include('value="Prices"');
            return answer.html;
        };
        expect(await said({ 'param-0': '' })).to.include('id="field-param-0-problem"');
        expect(await said({ watch: 'items[' })).to.include('id="field-watch-problem"');
        expect(await said({ every: 'cron', cron: '99 * * * *' })).to.include('id="field-cron-problem"');
        expect(await said({ when: 'expression', expression: '((' })).to.include('id="field-expression-problem"');
        expect(await said({ cron: '0 8 * * *' }))
            .to.include('id="field-every-problem"')
            .and.include('value="0 8 * * *"');
        expect(await said({ expression: 'diff' })).to.include('id="field-when-problem"');
        expect(await said({ per_day: 'some' })).to.include('id="field-per_day-problem"');
        expect(await said({ key: 'key_nobodys' })).to.include('id="field-key-problem"');
        expect(wordsOf((await ada.get(`/dashboard/monitors/new?site=${SITE}&endpoint=order`)).html)).to.include(
            'Monitors only call read endpoints.',
        );
        expect(wordsOf((await ada.get('/dashboard/monitors/new?site=nothing.test&endpoint=x')).html)).to.include('no schema of this site');
    });

    it('say how many a plan has', async () => {
        for (let made = 0; made < 3; made++) expect((await add()).status).to.equal(303);
        const refused = await add();
        expect([refused.status, wordsOf(refused.html).includes('up to 3 monitors')]).to.deep.equal([422, true]);
    });

    describe('in a browser', () => {
        let browser: Browser;
        before(async function () {
            browser = await openBrowser(this);
        });
        after(() => browser?.close());

        it('are complete and readable on a phone and on a desktop, light and dark', async () => {
            const { at } = await changed();
            const tab = await openTab(browser, world.base);
            await tab.context.addCookies([...ada.cookies].map(([name, value]) => ({ name, value, url: world.base })));
            const pages = { list: '/dashboard/monitors', choose: '/dashboard/monitors/new', new: NEW, one: at };
            for (const [name, path] of Object.entries(pages)) {
                expect((await tab.page.goto(path))?.status(), path).to.equal(200);
                await tab.lookAround(`monitors.${name}`);
            }
            await tab.page.getByText('Delete …').click();
            await tab.page.getByRole('button', { name: 'Delete monitor' }).click();
            await tab.page.getByText('Monitor deleted').waitFor();
            await tab.close();
        });
    });
});
