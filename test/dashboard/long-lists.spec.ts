import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { loadStarterRegistry } from '../../bin/demo/starter-registry.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { withoutTurns } from '../../shared/platform/in-turn.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import { testWebhook } from '../../shared/store/events/deliveries.ts';
import { createWebhook } from '../../shared/store/events/webhooks.ts';
import { createClaim } from '../../shared/store/registry/claims.ts';
import { create as createRequest } from '../../shared/store/registry/schema-requests.ts';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { join as joinWorld, withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import { DESKTOP, openBrowser, openTab, type Tab } from './support/browser.ts';
import { type Settled, settle } from './support/settled.ts';

const PHONE = { width: 390, height: 844 } as const;
const LONG = 'a-very-long-name-of-a-department-of-the-ministry-of-agriculture.example';
const MANY = 'weather-archive.example';
const TITLE = 'Department of Agriculture, Fisheries, Forestry and the Rural Environment';

/** Three screens of a phone. */
const MAX_PIXELS = 2500;

describe('long lists and long names', () => {
    let world: World;
    let browser: Browser;
    let somebody: Settled;
    let tab: Tab;

    before(async function () {
        browser = await openBrowser(this);
        world = await openWorld({ workers: 0, config: { trustProxy: 1 } });
        await loadStarterRegistry(world.app);
        somebody = await settle(world);
        const caller = withKey(world, somebody.apiKey);
        dataOf(await caller.publish(aPackage(LONG, { title: TITLE })));
        const many = Array.from({ length: 40 }, (_, number) => anEndpoint(MANY, { name: `report_${number}` }));
        dataOf(await caller.publish(aPackage(MANY, { endpoints: many })));
        for (let number = 1; number <= 17; number++) dataOf(await caller.publish(aPackage(`department-${number}.example`)));
        await callStarters();
        await wishForMore();
        const { workspaceId, userId, values } = somebody;
        for (let number = 1; number <= 24; number++) {
            const name = number === 1 ? 'continuous integration of the warehouse team (staging)' : `service ${number}`;
            await createKey(world.app.db, { workspaceId, userId, name });
            await testWebhook(world.app.db, { webhookId: values.webhook_id, workspaceId }, withoutTurns);
        }
        await addRows();
        tab = await openTab(browser, world.base, { viewport: PHONE });
        await tab.context.addCookies([...somebody.cookies].map(([name, value]) => ({ name, value, url: world.base })));
        // Shows the notice of the new account, once.
        await tab.visit('/dashboard');
    });
    after(async () => {
        await browser?.close();
        await world?.close();
    });

    /** Many members, connections, claims and webhooks. */
    async function addRows(): Promise<void> {
        const { db } = world.app;
        const { workspaceId, userId } = somebody;
        const order = { workspaceId, userId, accountId: userId, by: { actor: 'system' as const } };
        const entry = { id: 'key', type: 'header', name: 'X-Api-Key' };
        for (let number = 1; number <= 24; number++) {
            const { userId: member } = await joinWorld(world);
            await addMember(db, { workspaceId, userId: member, role: 'member' });
            if (number === 1)
                await db('users')
                    .where({ id: member })
                    .update({ email: `maximilian-alexander-${'m'.repeat(20)}@${LONG}` });
            const site = number === 1 ? LONG : `department-${number}.example`;
            const kept = { site, hosts: [site], auth_id: entry.id, entry: JSON.stringify(entry), sealed: Buffer.alloc(32), hint: '…8f2c' };
            const name = number === 1 ? 'account of the whole ministry for each harbour' : `mine ${number}`;
            await db('connections').insert({ id: newId('con'), workspace_id: workspaceId, owner_id: userId, shared: false, name, ...kept });
            await createClaim(db, { ...order, registrable: site });
            if (number > 6)
                await db('claims')
                    .where({ registrable: site })
                    .update({ status: 'proven', method: 'dns', proven_at: db.raw('app_now()') });
            const url = `https://receiver.example/${number === 1 ? `${LONG}/${LONG}` : number}`;
            const receiver = { url, host: 'receiver.example', registrable: 'receiver.example' };
            const hook = { receiver, events: ['job.*', 'batch.*', 'monitor.changed'], description: null, isEnabled: true };
            await createWebhook(db, world.app.secrets, { ...order, ...hook });
        }
    }

    /** One call of each of thirty sites, by a user who maintains none. */
    async function callStarters(): Promise<void> {
        const { userId, workspaceId } = await joinWorld(world);
        const { rows } = await world.app.db.raw<{ rows: { site: string }[] }>('select site from sites order by site limit 30');
        for (const { site } of rows) {
            const caller = { accountId: userId, workspaceId, userId, keyId: undefined };
            const call = { kind: 'fetch', operation: newId('op'), site, registrable: site, endpoint: 'search' } as const;
            world.app.usage.record({ ...call, ...caller, outcome: 'success', credits: 1, durationMs: 143 });
        }
        await world.app.usage.flush();
        await world.clock.advance({ hours: 1 });
        await rollUpTrending(world.app.db);
    }

    async function wishForMore(): Promise<void> {
        const nothing = { readOrWrite: null, authShape: null, outputShape: null, failureMode: null, intentCategory: null };
        for (let number = 1; number <= 30; number++) {
            const domain = number === 1 ? LONG.replace('department', 'apartment') : `tickets-${number}.example`;
            const wish = { domain, registrable: domain, task: 'Compare the prices of one concert over all ticket shops.' };
            const request = { ...wish, ...nothing, sourceUrl: null, frequency: 'daily' as const, requesterContact: null };
            await createRequest(world.app.db, request, { id: newId('srq'), workspaceId: undefined });
        }
    }

    const paths = [
        '/',
        '/docs',
        '/docs/errors',
        '/docs/api',
        '/docs/operations',
        '/docs/search?q=batch',
        '/docs/api/jobs',
        '/registry',
        '/registry?sort=name',
        '/registry?q=weather',
        '/registry/open-meteo.com',
        `/registry/${MANY}`,
        '/trending',
        '/requests',
        '/dashboard',
        '/dashboard/keys',
        '/dashboard/connections',
        '/dashboard/domains',
        '/dashboard/webhooks',
        '/dashboard/schemas',
        '/dashboard/audit',
        '/dashboard/workspace',
    ];
    for (const path of paths) {
        it(`fit on three screens of a phone: ${path}`, async () => {
            await tab.visit(path);
            const height = await tab.page.evaluate<number>('document.documentElement.scrollHeight');
            await tab.lookAround(`long${path.replaceAll(/\W/g, '.')}`);
            await tab.page.setViewportSize(PHONE);
            expect(height).to.be.at.most(MAX_PIXELS);
        });
    }

    for (const [path, words] of [
        ['/docs/errors#SITE_BUSY', 'SITE_BUSY'],
        ['/docs/api/jobs#postJob', 'Queue a call'],
        [`/registry/${MANY}#report_3`, 'One product with its price.'],
    ] as const) {
        it(`open what a link leads to, on a phone: ${path}`, async () => {
            await tab.visit(path);
            const seen = tab.page
                .locator(`${path.slice(path.indexOf('#'))}`)
                .getByText(words)
                .first();
            await seen.waitFor({ state: 'visible' });
            await tab.page.waitForFunction('scrollY > 0');
        });
    }

    it('leave the home page no wider than a phone and a desktop, also if a name has no spaces', async () => {
        const document = aPackage(LONG, { title: 'Genossenschaft'.repeat(14) });
        dataOf(await withKey(world, somebody.apiKey).publish(document));
        // Another process, since this one keeps the names of the sites for a while.
        const fresh = await openTab(browser, (await world.openAnotherApi()).base, { viewport: PHONE });
        await fresh.visit('/');
        await fresh.page.getByRole('link', { name: document.title }).waitFor();
        await fresh.lookAround('long.home');
        await fresh.close();
    });

    it('leave the deliveries of a webhook readable', async () => {
        await tab.visit(`/dashboard/webhooks/${somebody.values.webhook_id}`);
        await tab.page.getByRole('table', { name: /last events/ }).waitFor();
        await tab.lookAround('long.webhook');
    });

    for (const [screen, size] of [
        ['a desktop', DESKTOP],
        ['a tablet', { width: 800, height: 1000 }],
    ] as const) {
        it(`wrap neither a key nor an address on ${screen}`, async () => {
            await tab.page.setViewportSize(size);
            await tab.visit('/dashboard/keys');
            await tab.page
                .getByRole('cell', { name: /^rb_live_/ })
                .first()
                .waitFor();
            const lines = await tab.page.evaluate<number[]>(
                "[...document.querySelectorAll('#main tbody td > :is(code, span)')].map((cell) => cell.getClientRects().length)",
            );
            expect(new Set(lines)).to.deep.equal(new Set([1]));
        });

        it(`keep words whole on ${screen}`, async () => {
            await tab.page.setViewportSize(size);
            const lists = ['/dashboard/audit', '/dashboard/usage/calls', '/dashboard/keys', '/dashboard/workspace'].map(
                (path) => [path, 'th, td'] as const,
            );
            for (const [path, cells] of [...lists, ['/registry/open-meteo.com', '.params th code'] as const]) {
                await tab.visit(path);
                const broken = await tab.page.evaluate<string[]>(`[...document.querySelectorAll('${cells}')].flatMap((cell) => {
                    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
                    const words = [];
                    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
                        for (const { index, 0: word } of text.data.matchAll(/[a-z]+/gi)) {
                            const range = document.createRange();
                            range.setStart(text, index);
                            range.setEnd(text, index + word.length);
                            if (new Set([...range.getClientRects()].map(({ bottom }) => bottom)).size > 1) words.push(word);
                        }
                    }
                    return words;
                })`);
                expect(broken, path).to.deep.equal([]);
            }
        });
    }

    it('cause no errors until the browser is closed', () => tab.close());
});
