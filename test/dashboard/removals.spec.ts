import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { stopToken } from '../../shared/mail/news.ts';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import { removalOf } from '../../shared/store/registry/removals.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';
import { openBrowser, openTab, PHONE } from './support/browser.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, hiddenOf, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

describe('the removal of a maintainer, on pages', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });
    let sites = 0;

    async function contributor() {
        const email = freshAddress();
        const person = await signUp(world, email);
        const { html } = await person.get('/dashboard/schemas');
        return { person, userId: await userOf(world, email), workspaceId: /wsp_[0-9A-Za-z]+/.exec(html)?.[0] ?? '' };
    }

    /** Two maintainers of a new site. The first one requested the removal of the second. */
    async function beingRemoved() {
        const [owner, guest] = [await contributor(), await contributor()];
        const site = `leaving-${++sites}-shelf.example`;
        const document = JSON.stringify(aPackage(site));
        const checked = await owner.person.send('/dashboard/schemas/new', { step: 'check', package: document });
        await owner.person.send('/dashboard/schemas/new', {
            step: 'publish',
            package: document,
            checked: hiddenOf(checked.html, 'checked') ?? '',
            follows: '',
        });
        const at = `/dashboard/schemas/${site}`;
        await owner.person.send(`${at}/maintainers`, { maintainer: guest.workspaceId });
        const asked = await owner.person.send(`${at}/maintainers/remove`, { maintainer: guest.workspaceId });
        expect(asked.to).to.equal(at);
        const removal = await removalOf(world.app.db, site, guest.workspaceId);
        if (removal === undefined) throw new Error('the removal is pending');
        const when = `${removal.takesEffectAt.toISOString().slice(11, 16)} UTC`;
        return { owner, guest, site, at, when, token: await stopToken(world.app.secrets, removal.removalId) };
    }

    const isPending = async (site: string, workspaceId: string) => (await removalOf(world.app.db, site, workspaceId)) !== undefined;
    const stopByLink = (person: Visitor, token: string) => person.send('/maintainers/stop', { token });

    it('is shown with its time to the workspace that requested it, which cannot request it again', async () => {
        const { owner, at, when } = await beingRemoved();
        const { html } = await owner.person.get(at);
        const words = wordsOf(html);
        expect(words).to.include('removed in 24 hours unless its owners stop it').and.to.include('will be removed');
        expect(words).to.include(when);
        expect(html.match(/action="[^"]*\/maintainers\/remove/g)).to.have.length(1);
        expect(html).not.to.include('/maintainers/stop');
    });

    it('is stopped by a button on the page of the removed workspace, and changes no maintainers until then', async () => {
        const { guest, owner, site, at, when } = await beingRemoved();
        const before = await guest.person.get(at);
        expect(wordsOf(before.html)).to.include('Another maintainer asked to remove this workspace').and.to.include(when);
        expect(before.html).not.to.match(/action="[^"]*\/maintainers(#[^"]*)?"/);
        const refused = await guest.person.send(`${at}/maintainers`, { maintainer: owner.workspaceId });
        expect([refused.status, wordsOf(refused.html).includes('Your workspace is being removed')]).to.deep.equal([422, true]);
        expect((await guest.person.send(`${at}/maintainers/stop`)).to).to.equal(at);
        expect(wordsOf((await guest.person.get(at)).html)).to.include('Removal stopped');
        expect(await isPending(site, guest.workspaceId)).to.equal(false);
        const again = await owner.person.send(`${at}/maintainers/remove`, { maintainer: guest.workspaceId });
        expect([again.status, wordsOf(again.html).includes('30 days')]).to.deep.equal([422, true]);
        const nothing = await guest.person.send(`${at}/maintainers/stop`);
        expect([nothing.status, wordsOf(nothing.html).includes('No removal of this workspace is pending')]).to.deep.equal([422, true]);
    });

    it('is stopped by owners and admins only, after a sign-in within 15 minutes', async () => {
        const { guest, owner, site, at } = await beingRemoved();
        const email = freshAddress();
        const member = await signUp(world, email);
        await addMember(world.app.db, { workspaceId: guest.workspaceId, userId: await userOf(world, email), role: 'member' });
        await member.send('/dashboard/switch', { workspace: guest.workspaceId });
        expect((await member.get(at)).html).not.to.include('/maintainers/stop');
        expect((await member.send(`${at}/maintainers/stop`)).status).to.equal(403);
        // The workspace that requested it has nothing to stop.
        expect((await owner.person.send(`${at}/maintainers/stop`)).status).to.equal(422);
        await world.app.db.raw(`update web_sessions set confirmed_at = app_now() - interval '16 minutes' where user_id = ?`, [
            guest.userId,
        ]);
        expect((await guest.person.send(`${at}/maintainers/stop`, {}, { from: at })).to).to.match(/^\/dashboard\/confirm\?next=/);
        expect(await isPending(site, guest.workspaceId)).to.equal(true);
    });

    it('is stopped with the mailed link, by its button only and once', async () => {
        const { guest, site, token } = await beingRemoved();
        const reader = visitor(world);
        const opened = await reader.get(`/maintainers/stop?token=${token}`);
        expect([opened.status, wordsOf(opened.html).includes(site)]).to.deep.equal([200, true]);
        expect(await isPending(site, guest.workspaceId)).to.equal(true);
        const stopped = await stopByLink(reader, token);
        expect([stopped.status, wordsOf(stopped.html).includes(`still maintains ${site}`)]).to.deep.equal([200, true]);
        expect(await isPending(site, guest.workspaceId)).to.equal(false);
        expect((await stopByLink(reader, token)).status).to.equal(410);
        expect((await reader.get(`/maintainers/stop?token=${token}`)).status).to.equal(410);
    });

    it('is in the audit, with the signed-in owner who opened the link', async () => {
        const { guest, token } = await beingRemoved();
        await stopByLink(guest.person, token);
        const { rows } = await world.app.db.raw(
            "select actor from workspace_audit where workspace_id = ? and action = 'maintainer.removal_stopped'",
            [guest.workspaceId],
        );
        expect(rows).to.deep.equal([{ actor: guest.userId }]);
    });

    it('is not stopped by an invented link', async () => {
        const { guest, site, token } = await beingRemoved();
        const [removalId = '', code = ''] = token.split('.');
        const foreign = newId('rmv');
        for (const made of [
            `${removalId}.${'A'.repeat(43)}`,
            `${foreign}.${code}`,
            await stopToken(world.app.secrets, foreign),
            removalId,
            '',
            'x'.repeat(5000),
        ]) {
            const reader = visitor(world);
            expect((await reader.get(`/maintainers/stop?token=${made}`)).status, made.slice(0, 40)).to.equal(410);
            expect((await stopByLink(reader, made)).status, made.slice(0, 40)).to.equal(410);
        }
        expect(await isPending(site, guest.workspaceId)).to.equal(true);
    });

    it('is stopped in a browser, from the page and from the link', async function () {
        const browser = await openBrowser(this);
        try {
            for (const way of ['page', 'link'] as const) {
                const { guest, site, at, token } = await beingRemoved();
                const tab = await openTab(browser, world.base, { viewport: PHONE });
                if (way === 'page')
                    await tab.context.addCookies([...guest.person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
                await tab.visit(way === 'page' ? at : `/maintainers/stop?token=${token}`);
                await tab.page.getByRole('button', { name: 'Stop the removal' }).click();
                await tab.page.getByText(/still maintains/).waitFor();
                await tab.look();
                expect(await isPending(site, guest.workspaceId), way).to.equal(false);
                await tab.close();
            }
        } finally {
            await browser.close();
        }
    });
});
