import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab, type Tab } from './support/browser.ts';
import { pathOf, SHOWN } from './support/places.ts';
import { type Settled, settle } from './support/settled.ts';

/** It ends a text, an attribute and a comment, and each part of it would set `planted`. */
const MARKUP = `-->'"><img src=x onerror="planted=1"><script>planted=1</script><a href="javascript:planted=1">{{7*7}}</a><%= 7*7 %>`;
const LINK = 'javascript:planted=1';

/** What strangers may have written, by table. The rules refuse some of it: no page relies on them. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
    users: ['email'],
    workspaces: ['name'],
    api_keys: ['name'],
    web_sessions: ['browser'],
    sign_ins: ['browser', 'address'],
    passkeys: ['name'],
    sites: ['title', 'description', 'intent_category'],
    problem_reports: ['text'],
    schema_requests: ['task', 'output_shape', 'failure_mode', 'requester_contact'],
    jobs: ['custom_id'],
    batches: ['name'],
    monitors: ['name', 'watch', 'identity'],
    webhooks: ['description'],
    webhook_deliveries: ['problem', 'answer'],
    connections: ['name', 'hint'],
    workspace_audit: ['target'],
};
const LINKS: Readonly<Record<string, readonly string[]>> = { schema_requests: ['source_url'], webhooks: ['url'] };

describe('markup in texts of strangers', () => {
    let world: World;
    let browser: Browser;
    let person: Settled;
    let tab: Tab;
    let shown = 0;
    const operatorEmails: string[] = [];

    before(async function () {
        browser = await openBrowser(this);
        world = await openWorld({ workers: 0, config: { trustProxy: 1, operatorEmails } });
        person = await settle(world);
        await plant();
        tab = await openTab(browser, world.base);
        await tab.context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
    });
    after(async () => {
        await browser?.close();
        await world?.close();
    });

    async function plant(): Promise<void> {
        const { db } = world.app;
        for (const [names, text] of [
            [TEXTS, MARKUP],
            [LINKS, LINK],
        ] as const) {
            for (const [table, columns] of Object.entries(names)) {
                await db(table).update(Object.fromEntries(columns.map((column) => [column, text])));
            }
        }
        await db('workspace_invitations').whereNotNull('address').update({ address: MARKUP });
        for (const table of ['jobs', 'batches', 'monitors']) await db(table).update({ metadata: JSON.stringify({ [MARKUP]: MARKUP }) });
        await db('connections').update({
            entry: JSON.stringify({ id: 'key', type: 'header', name: MARKUP, obtain_url: LINK, description: MARKUP }),
        });
        await db('workspace_audit').update({ details: JSON.stringify({ name: MARKUP, [MARKUP]: MARKUP }) });
        await db('versions').update({ document: JSON.stringify(plantedPackage(person.values.site)) });
    }

    const pages = SHOWN.filter(({ audience, isPart }) => audience !== 'operator' && isPart !== true);
    const paths = () => [...pages.map((page) => pathOf(page, person.values)), `/dashboard/connections/new?site=${person.values.site}`];
    for (const [place, path] of [...pages.map((page) => page.path), '/dashboard/connections/new?site='].entries()) {
        it(`stays text on ${path}`, async () => {
            await tab.page.goto(paths()[place] ?? '', { waitUntil: 'load' });
            const found = await tab.page.evaluate<string[]>(`[
                ...(window.planted === undefined ? [] : ['a script ran']),
                ...[...document.querySelectorAll('[href^="javascript:" i], [action^="javascript:" i], [onerror], img[src="x"]')].map((one) => one.outerHTML),
            ]`);
            expect(found).to.deep.equal([]);
            if (await tab.page.evaluate<boolean>("document.body.textContent.includes('planted=1')")) shown += 1;
        });
    }

    it('is shown on many of them', () => {
        expect(shown).to.be.at.least(20);
    });

    it('causes no error in the browser', () => tab.close());
});

function plantedPackage(site: string) {
    const endpoint = anEndpoint(site, {
        name: 'find_berth',
        description: MARKUP,
        params: [
            {
                ...{ name: 'id', source: 'path', required: true, description: MARKUP },
                schema: { type: 'string', enum: [MARKUP, 'b'], default: MARKUP, examples: [MARKUP], description: MARKUP },
            },
        ],
        examples: [{ params: { id: MARKUP }, description: MARKUP }],
    } as never);
    const auth = [{ id: 'key', type: 'header', name: 'X-Api-Key', description: MARKUP, obtain_url: LINK }];
    return { ...aPackage(site, { title: MARKUP, description: MARKUP, endpoints: [endpoint], auth } as never) };
}
