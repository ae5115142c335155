import { expect } from 'chai';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import { join, stranger } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, useWorld } from '../support/world.ts';
import { openBrowser, openTab } from './support/browser.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, hiddenOf, signUp, type Visitor, wordsOf } from './support/visitor.ts';

describe('a workspace’s own schemas on the dashboard', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });

    let sites = 0;
    const freshSite = () => {
        sites += 1;
        return `own-site-${sites}-shelf.example`;
    };

    async function contributor() {
        const email = freshAddress();
        const person = await signUp(world, email);
        const userId = await userOf(world, email);
        const { html } = await person.get('/dashboard/schemas');
        return { person, userId, workspaceId: /wsp_[0-9A-Za-z]+/.exec(html)?.[0] ?? '' };
    }

    const send = (person: Visitor, document: unknown, fields: Record<string, string> = {}) =>
        person.send('/dashboard/schemas/new', {
            step: 'check',
            package: typeof document === 'string' ? document : JSON.stringify(document, undefined, 2),
            ...fields,
        });

    /** Checks a package, then publishes it with the form of its report. */
    async function publish(person: Visitor, document: object) {
        const { html } = await send(person, document);
        return send(person, document, {
            step: 'publish',
            checked: hiddenOf(html, 'checked') ?? '',
            follows: hiddenOf(html, 'follows') ?? '',
        });
    }

    const latestOf = async (site: string) =>
        (await stranger(world).call('GET', `/v1/schemas/${site}`)).body['data'] as { version: number } | undefined;

    it('may be megabytes large, and are shown again as they were sent if they are refused', async () => {
        const { person } = await contributor();
        const text = `{"description": "<b>'&'</b> ${'"+"'.repeat(400_000)}`;
        const refused = await send(person, text);
        expect(refused.status).to.equal(422);
        expect(wordsOf(refused.html)).to.match(/This is not valid JSON: look at line 1, column \d+\./);
        const [, shown = ''] = /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(refused.html) ?? [];
        const read = shown.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>');
        expect(read.replaceAll('&amp;', '&') === text, 'as it was sent').to.equal(true);
        expect((await send(person, 'x'.repeat(4 * 1024 * 1024 + 1))).status).to.equal(413);
    });

    it('are checked first, then published, credited, listed and managed', async () => {
        const { person, userId } = await contributor();
        const site = freshSite();
        expect(wordsOf((await person.get('/dashboard/schemas')).html)).to.include('No schema yet');
        const before = (await world.app.credits.balance(userId))?.bonus ?? 0;
        const checked = await send(person, aPackage(site));
        expect(checked.status).to.equal(200);
        expect(wordsOf(checked.html))
            .to.include('Ready to publish')
            .and.include('Added product')
            .and.include('NO_EXAMPLES')
            .and.include('Publish version 1');
        expect(await latestOf(site)).to.equal(undefined);

        const done = await publish(person, aPackage(site));
        expect(done.to).to.equal(`/dashboard/schemas/${site}`);
        expect(wordsOf((await person.get(done.to ?? '')).html))
            .to.include('Published')
            .and.include('1 version')
            .and.include('Not checked yet');
        // The page reads this part again until a check has ended.
        expect((await person.get(done.to ?? '')).html).to.include(`hx-get="/dashboard/schemas/${site}/verification"`);
        const part = await person.get(`/dashboard/schemas/${site}/verification`);
        expect(part.html).to.include('Not checked yet').and.not.include('<html');
        expect((await world.app.credits.balance(userId))?.bonus ?? 0).to.be.greaterThan(before);
        expect((await person.get('/dashboard/schemas')).html).to.include(`href="/dashboard/schemas/${site}"`);
        expect((await publish(person, aPackage(site))).to).to.equal(`/dashboard/schemas/${site}`);
        expect(await latestOf(site)).to.deep.include({ version: 1 });
    });

    it('can start from an example that passes the checks, and is published only once it is changed', async () => {
        const [one, other] = [await contributor(), await contributor()];
        expect((await one.person.get('/dashboard/schemas/new')).html).to.include('href="/dashboard/schemas/new?from=example"');
        const exampleOf = async ({ person }: typeof one) => {
            const { html } = await person.get('/dashboard/schemas/new?from=example');
            const [, shown = ''] = /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(html) ?? [];
            return shown.replaceAll('&quot;', '"');
        };
        const text = await exampleOf(one);
        const { html } = await send(one.person, text);
        expect(wordsOf(html)).to.include('The example is valid').and.not.include('warning').and.not.include('Publish version');
        const { site } = JSON.parse(text);
        expect(site).not.to.equal(JSON.parse(await exampleOf(other)).site);
        await publish(one.person, JSON.parse(text));
        expect(await latestOf(site)).to.equal(undefined);
        const own = freshSite();
        await publish(one.person, JSON.parse(text.replaceAll(site, own)));
        expect(await latestOf(own)).to.deep.include({ version: 1 });
    });

    it('that break the rules get an error with a pointer for each problem, and keep what was typed', async () => {
        const { person } = await contributor();
        const site = freshSite();
        const bad = aPackage(site, {
            endpoints: [anEndpoint('elsewhere.example'), anEndpoint(site, { name: 'Bad Name', headers: { cookie: 'a=b' } })],
        });
        const { status, html } = await send(person, bad);
        expect(status).to.equal(422);
        expect(wordsOf(html))
            .to.include('Fix these, then check again.')
            .and.include('/endpoints/0/url')
            .and.include('/endpoints/1/name')
            .and.include('/endpoints/1/headers/cookie');
        expect(wordsOf(html)).to.include('"name": "Bad Name"');
        for (const [text, words] of [
            ['{"format": "routebook/1",\n oops}', 'This is not valid JSON: look at line 2, column 2'],
            ['', 'Paste a package'],
            ['[]', 'SCHEMA_INVALID|object'],
            ['<script>alert(1)</script>', 'This is not valid JSON'],
            ['x'.repeat(300_000), 'This is not valid JSON'],
        ] as const) {
            const answer = await send(person, text);
            expect(answer.status, text.slice(0, 50)).to.equal(422);
            expect(wordsOf(answer.html)).to.match(new RegExp(words));
            expect(answer.html).not.to.include('<script>alert');
        }
        expect(await latestOf(site)).to.equal(undefined);
    });

    it('of any size that the API accepts can be sent by a form', async () => {
        const { person } = await contributor();
        const site = freshSite();
        const endpoints = Array.from({ length: 150 }, (_, index) =>
            anEndpoint(site, { name: `endpoint_${index}`, description: '"é" '.repeat(1500) }),
        );
        const document = aPackage(site, { endpoints });
        expect(JSON.stringify(document).length).to.be.greaterThan(900_000);
        expect((await publish(person, document)).to).to.equal(`/dashboard/schemas/${site}`);
    });

    it('are published as they were checked, and never replace another one’s newer version', async () => {
        const { person, workspaceId } = await contributor();
        const site = freshSite();
        await publish(person, aPackage(site));
        const next = aPackage(site, { title: 'Second' });
        const { html } = await send(person, next);
        const offered = { step: 'publish', checked: hiddenOf(html, 'checked') ?? '', follows: hiddenOf(html, 'follows') ?? '' };
        const changed = await send(person, aPackage(site, { title: 'Not what was checked' }), offered);
        expect(wordsOf(changed.html)).to.include('Ready to publish');
        expect(await latestOf(site)).to.deep.include({ version: 1 });

        const colleague = await contributor();
        await person.send(`/dashboard/schemas/${site}/maintainers`, { maintainer: colleague.workspaceId });
        await publish(colleague.person, aPackage(site, { title: 'From a colleague' }));
        const late = await send(person, next, offered);
        expect(late.status).to.equal(422);
        expect(wordsOf(late.html)).to.include('Review it, then publish again');
        expect(await latestOf(site)).to.deep.include({ version: 2 });
        expect(workspaceId).to.match(/^wsp_/);
        expect((await person.get(`/dashboard/schemas/new?site=${site}`)).html).to.include('From a colleague');
    });

    it('are yanked with a reason, and put back', async () => {
        const { person } = await contributor();
        const site = freshSite();
        for (const title of ['One', 'Two']) await publish(person, aPackage(site, { title }));
        const at = `/dashboard/schemas/${site}`;
        const unsaid = await person.send(`${at}/versions/2/yank`, { reason: 'dislike' });
        expect(unsaid.status).to.equal(422);
        expect(wordsOf(unsaid.html)).to.include('Choose one of these.');
        expect((await person.send(`${at}/versions/2/yank`, { reason: 'broken' })).to).to.equal(at);
        expect(wordsOf((await person.get(at)).html))
            .to.include('yanked: broken')
            .and.include('1 latest');
        expect(await latestOf(site)).to.deep.include({ version: 1 });
        expect((await person.send(`${at}/versions/2/restore`)).to).to.equal(at);
        expect(await latestOf(site)).to.deep.include({ version: 2 });
        for (const version of ['7', '0', 'x', '1e1', '99999999999']) {
            expect((await person.send(`${at}/versions/${version}/yank`, { reason: 'broken' })).status, version).to.equal(404);
        }
        await world.app.db.raw(
            "update versions set yanked_at = app_now(), yank_reason = 'legal', yanked_by_operator = true where site = ? and version = 2",
            [site],
        );
        const final = await person.send(`${at}/versions/2/restore`);
        expect(wordsOf(final.html)).to.include('Only an operator can restore it').and.include('by the operator, permanently');
    });

    it('have maintainers who join and leave, except for the last one', async () => {
        const [owner, guest] = [await contributor(), await contributor()];
        const site = freshSite();
        await publish(owner.person, aPackage(site));
        const at = `/dashboard/schemas/${site}`;
        for (const [id, words] of [
            ['nobody', 'starts with wsp_'],
            ['wsp_0000000000000000', 'There is no such workspace.'],
            ['', 'Fill this in.'],
        ] as const) {
            const { status, html } = await owner.person.send(`${at}/maintainers`, { maintainer: id });
            expect(status).to.equal(422);
            expect(wordsOf(html)).to.include(words);
        }
        expect((await guest.person.get(at)).status).to.equal(404);
        expect((await owner.person.send(`${at}/maintainers`, { maintainer: guest.workspaceId })).to).to.equal(at);
        expect((await guest.person.get(at)).status).to.equal(200);
        expect((await owner.person.send(`${at}/maintainers/remove`, { maintainer: owner.workspaceId })).to).to.equal('/dashboard/schemas');
        expect((await owner.person.get(at)).status).to.equal(404);
        const last = await guest.person.send(`${at}/maintainers/remove`, { maintainer: guest.workspaceId });
        expect(last.status).to.equal(422);
        expect((await guest.person.get(at)).status).to.equal(200);
    });

    it('are not changed by plain members, nor without a confirmation of the last 15 minutes', async () => {
        const [owner, guest] = [await contributor(), await contributor()];
        const site = freshSite();
        await publish(owner.person, aPackage(site));
        const at = `/dashboard/schemas/${site}`;
        const email = freshAddress();
        const member = await signUp(world, email);
        await addMember(world.app.db, { workspaceId: owner.workspaceId, userId: await userOf(world, email), role: 'member' });
        await member.send('/dashboard/switch', { workspace: owner.workspaceId });
        const { html } = await member.get(at);
        expect(html).not.to.match(/action="[^"]*\/(maintainers|yank)/);
        for (const path of ['maintainers', 'maintainers/remove']) {
            expect((await member.send(`${at}/${path}`, { maintainer: guest.workspaceId })).status, path).to.equal(403);
        }
        await world.app.db.raw(`update web_sessions set confirmed_at = app_now() - interval '16 minutes' where user_id = ?`, [
            owner.userId,
        ]);
        const asked = await owner.person.send(`${at}/maintainers`, { maintainer: guest.workspaceId }, { from: at });
        expect(asked.to).to.match(/^\/dashboard\/confirm\?next=/);
        expect((await guest.person.get(at)).status).to.equal(404);
    });

    it('cannot be published, yanked or taken over by another workspace', async () => {
        const [owner, other] = [await contributor(), await contributor()];
        const site = freshSite();
        await publish(owner.person, aPackage(site));
        const at = `/dashboard/schemas/${site}`;
        expect(wordsOf((await send(other.person, aPackage(site, { title: 'Mine now' }))).html)).to.include('Cannot publish');
        for (const [path, fields] of [
            [`${at}/versions/1/yank`, { reason: 'broken' }],
            [`${at}/versions/1/restore`, {}],
            [`${at}/maintainers`, { maintainer: other.workspaceId }],
            [`${at}/maintainers/remove`, { maintainer: owner.workspaceId }],
        ] as const) {
            expect((await other.person.send(path, fields)).status, path).to.equal(404);
        }
        expect((await other.person.get(at)).status).to.equal(404);
        expect(await latestOf(site)).to.deep.include({ version: 1 });
    });

    it('are for roles that may call: the role billing neither sees nor changes them', async () => {
        const { person, workspaceId } = await contributor();
        const site = freshSite();
        await publish(person, aPackage(site));
        const email = freshAddress();
        const payer = await signUp(world, email);
        await addMember(world.app.db, { workspaceId, userId: await userOf(world, email), role: 'billing' });
        await payer.send('/dashboard/switch', { workspace: workspaceId });
        for (const path of ['/dashboard/schemas', '/dashboard/schemas/new', `/dashboard/schemas/${site}`]) {
            expect((await payer.get(path)).status, path).to.equal(403);
        }
        expect((await payer.send(`/dashboard/schemas/${site}/versions/1/yank`, { reason: 'broken' })).status).to.equal(403);
        expect((await send(payer, aPackage(freshSite()))).status).to.equal(403);
    });

    it('wait until the address is confirmed, if mails are sent', async () => {
        const mailed = await openWorld({ workers: 0, config: { trustProxy: 1, mail: { smtpUrl: 'smtp://127.0.0.1:1', from: undefined } } });
        try {
            const person = await signUp(mailed);
            const { status, html } = await send(person, aPackage(freshSite()));
            expect(status).to.equal(422);
            expect(wordsOf(html))
                .to.include('Cannot publish')
                .and.match(/[Cc]onfirm|verif/);
        } finally {
            await mailed.close();
        }
    });

    it('change no rights of the API’s publishers', async () => {
        const ada = await join(world);
        const site = freshSite();
        expect(dataOf<{ version: number }>(await ada.publish(aPackage(site))).version).to.equal(1);
        const { person } = await contributor();
        expect((await person.get(`/dashboard/schemas/${site}`)).status).to.equal(404);
    });

    it('are published from a file, in a browser', async function () {
        const browser = await openBrowser(this);
        try {
            const { person } = await contributor();
            const site = freshSite();
            const tab = await openTab(browser, world.base, { viewport: { width: 360, height: 740 } });
            await tab.context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
            await tab.visit('/dashboard/schemas/new');
            const chooser = tab.page.getByLabel('From a file');
            const file = (document: object) => ({
                name: 'package.json',
                mimeType: 'application/json',
                buffer: Buffer.from(JSON.stringify(document, undefined, 2)),
            });
            await chooser.setInputFiles(file(aPackage(site, { endpoints: [anEndpoint('elsewhere.example')] })));
            await tab.page.getByRole('button', { name: 'Check', exact: true }).click();
            await tab.page.getByText('/endpoints/0/url').waitFor();
            await tab.look();
            await tab.page.getByLabel('From a file').setInputFiles(file(aPackage(site)));
            await tab.page.getByRole('button', { name: 'Check', exact: true }).click();
            await tab.page.getByRole('button', { name: 'Publish version 1' }).waitFor();
            await tab.look();
            await tab.page.getByRole('button', { name: 'Publish version 1' }).click();
            await tab.page.getByText('Published. Calls use').waitFor();
            await tab.page.getByText('Yank … version 1').click();
            await tab.look();
            await tab.close();
        } finally {
            await browser.close();
        }
    });
});
