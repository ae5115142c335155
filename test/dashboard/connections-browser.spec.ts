import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { type AuthorizationServer, CLIENT, openAuthorizationServer } from '../support/authorization-server.ts';
import { API_KEY, connectedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab, type Tab } from './support/browser.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, signUp } from './support/visitor.ts';

const KEYED = 'keyed-story.test';
const GRANTED = 'granted-story.test';
const AUTH = `auth.${GRANTED}`;
const [FIRST, WRONG, SECOND] = ['the-first-key-4711', 'a-mistyped-key-4712', 'the-second-key-4713'];

describe('a connection, in a browser', () => {
    let world: World;
    let site: Site;
    let server: AuthorizationServer;
    let browser: Browser;
    let person: Person;
    let tab: Tab;
    /** The key that the site accepts. */
    let taken = FIRST;

    before(async function () {
        browser = await openBrowser(this, { hosts: [AUTH] });
        site = await openSite(async (request, response) => {
            const { 'x-api-key': key, authorization = '' } = request.headers;
            const isGranted = (await server.scopesOf(authorization.replace('Bearer ', ''))) !== undefined;
            response
                .writeHead(key === taken || isGranted ? 200 : 401, { 'content-type': 'application/json' })
                .end(JSON.stringify({ you_sent: key ?? authorization }));
        });
        const egressHosts = new Map([KEYED, GRANTED, AUTH].map((name): [string, string[]] => [name, ['127.0.0.1']]));
        world = await openWorld({ config: { trustProxy: 1, egressHosts } });
        server = await openAuthorizationServer(AUTH, `${world.app.publicUrl()}/connections/callback`);
        const email = freshAddress();
        await signUp(world, email);
        person = await keyOf(email);
        const keyed: PackageAuth = { ...API_KEY, obtain_url: `https://${KEYED}/keys`, test: 'mine' };
        const oauth2 = { authorization_url: `${server.origin}/auth`, token_url: `${server.origin}/token`, scopes: [{ name: 'orders' }] };
        for (const [name, entry] of [
            [KEYED, keyed],
            [GRANTED, { id: 'account', type: 'oauth2', oauth2 }],
        ] as [string, PackageAuth][]) {
            dataOf(await person.publish(connectedPackage(name, { auth: [entry], base: `http://${name}:${site.port}` })));
        }
        dataOf(await person.call('PUT', `/v1/oauth-clients/${GRANTED}`, { body: CLIENT }));
        tab = await signIn(email);
    });
    after(async () => {
        await tab?.close();
        await browser?.close();
        await world?.close();
        await server?.close();
        await site?.close();
    });

    async function keyOf(email: string): Promise<Person> {
        const userId = await userOf(world, email);
        await world.app.db('users').where({ id: userId }).update({ verified_at: new Date() });
        const { workspace_id: workspaceId } = await world.app.db('memberships').where({ user_id: userId }).first('workspace_id');
        const { apiKey } = await createKey(world.app.db, { workspaceId, userId, name: 'laptop', scopes: EVERY_SCOPE });
        return withKey(world, apiKey);
    }

    /** Signs in by the form, so that the cookies are real. The site leads back to PUBLIC_URL. */
    async function signIn(email: string): Promise<Tab> {
        const opened = await openTab(browser, world.app.publicUrl(), { expects: new RegExp(`a request to ${AUTH}`) });
        await opened.page.goto('/login');
        await opened.page.getByLabel('Email').fill(email);
        await opened.page.getByLabel('Password').fill(PASSWORD);
        await opened.page.getByRole('button', { name: 'Sign in' }).click();
        await opened.page.waitForURL(/\/dashboard$/);
        return opened;
    }

    const press = (name: string) => tab.page.getByRole('button', { name }).click();
    const follow = (name: string) => tab.page.getByRole('link', { name }).first().click();
    const reads = (text: string) => tab.page.getByText(text).first().waitFor();
    /** The entry of a site on the page of connections. */
    async function line(name: string): Promise<string> {
        await tab.page.goto('/dashboard/connections');
        return tab.page.getByRole('row', { name }).innerText();
    }
    /** The price of a call on the page of its endpoint, or why it is impossible. A busy machine may need a retry. */
    async function price(name: string, expected: string): Promise<void> {
        await eventually(
            async () => {
                await tab.page.goto(`/registry/${name}/try/mine`);
                await press('Preview the cost');
                await tab.page.locator('#next h2').first().waitFor();
                return tab.page.locator('#next').innerText();
            },
            (text) => text.includes(expected),
            60_000,
        );
    }
    const type = (label: string, value: string) => tab.page.getByLabel(label, { exact: true }).fill(value);

    it('by a key: refused, accepted, used, rejected by the site, replaced, lent and deleted', async () => {
        const { page } = tab;
        await price(KEYED, 'CONNECTION_REQUIRED');
        await tab.look();
        await follow('Connect');
        await page.getByRole('heading', { name: `Connect ${KEYED}` }).waitFor();
        await tab.look();
        await type('Key or token', WRONG);
        await press('Connect');
        await reads('rejects this credential');
        expect(await page.content()).not.to.include(WRONG);
        await type('Key or token', FIRST);
        await press('Connect');
        await reads('Connected. Calls can use it now.');
        expect(await line(KEYED))
            .to.include('active')
            .and.not.to.include(FIRST);

        await price(KEYED, 'Review the call');
        await press('Send for up to 1 credit');
        await page.getByRole('heading', { name: 'Response', exact: true }).waitFor();
        expect(await page.getByRole('group', { name: 'Response' }).innerText()).to.include('"you_sent": "•••"');
        expect(site.seen.at(-1)?.headers['x-api-key']).to.equal(FIRST);

        taken = SECOND;
        for (let at = 0; at < 3; at++) expect(codeOf(await person.fetch(KEYED, 'mine'))).to.equal('UPSTREAM_UNAUTHORIZED');
        expect(await line(KEYED)).to.include('rejected');
        await follow(`Reconnect ${KEYED}`);
        await type('Key or token', SECOND);
        await press('Save');
        await reads('Connected. Calls can use it now.');
        expect(await line(KEYED)).to.include('active');
        dataOf(await person.fetch(KEYED, 'mine'));

        await follow(`Change ${KEYED}`);
        await press('Lend it to verification runs');
        await reads('Connection lent. The next verification run of the site uses it.');
        expect(await line(KEYED)).to.include('lent to verification');
        await follow(`Change ${KEYED}`);
        await tab.look();
        await press('Stop lending it');
        await reads('Verification runs no longer use this connection.');
        expect(await line(KEYED)).not.to.include('lent to verification');

        await page.getByText(`Delete … ${KEYED}`).click();
        await press('Delete connection');
        await reads('The connection is deleted.');
        await eventually(
            async () => codeOf(await person.fetch(KEYED, 'mine')),
            (code) => code === 'CONNECTION_REQUIRED',
        );
    });

    it('by consent: given at the site, confirmed here, withdrawn there, given again', async () => {
        const consent = async () => {
            await press('Go to the site');
            await follow(`Continue to ${AUTH}`);
            await tab.page.getByRole('heading', { name: `Connect ${GRANTED}` }).waitFor();
            await reads('You allowed');
            await tab.look();
            await press('Connect');
            await reads('Connected. Calls can use it now.');
            expect(await line(GRANTED)).to.include('active');
        };
        server.lasting(30);
        await tab.page.goto(`/registry/${GRANTED}`);
        await follow('Connect');
        await consent();
        dataOf(await person.fetch(GRANTED, 'mine'));

        await server.withdraw();
        expect(codeOf(await person.fetch(GRANTED, 'mine'))).to.equal('CONNECTION_REQUIRED');
        expect(await line(GRANTED)).to.include('revoked');
        server.lasting(3600);
        await follow(`Reconnect ${GRANTED}`);
        await consent();
        dataOf(await person.fetch(GRANTED, 'mine'));
        expect(dataOf<unknown[]>(await person.call('GET', `/v1/connections?site=${GRANTED}`))).to.have.length(1);
    });
});
