import { expect } from 'chai';
import { PAGES } from '../../api/dashboard/pages.ts';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import type { World } from '../support/world.ts';
import type { MailServer } from './support/mail-server.ts';
import { openMailWorld } from './support/mail-world.ts';
import { absentValues, pathOf } from './support/places.ts';
import { settle, userOf } from './support/settled.ts';
import { freshAddress, hiddenOf, PASSWORD, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const MINUTES = 60;

describe('a sensitive step', () => {
    let world: World;
    let mail: MailServer;

    before(async () => {
        ({ world, mail } = await openMailWorld());
    });
    after(() => world.close());

    /** An owner and a plain member of one workspace. */
    async function team() {
        const [ownerEmail, memberEmail] = [freshAddress(), freshAddress()];
        const owner = await signUp(world, ownerEmail);
        await signUp(world, memberEmail);
        await world.app.db.raw('update users set verified_at = app_now() where email = ?', [ownerEmail]);
        const [ownerId, memberId] = [await userOf(world, ownerEmail), await userOf(world, memberEmail)];
        const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [ownerId]);
        const workspaceId: string = rows[0].workspace_id;
        await addMember(world.app.db, { workspaceId, userId: memberId, role: 'member' });
        const roleOf = async () => {
            const { rows: memberships } = await world.app.db.raw('select role from memberships where workspace_id = ? and user_id = ?', [
                workspaceId,
                memberId,
            ]);
            return memberships[0].role;
        };
        return { owner, ownerEmail, ownerId, path: `/dashboard/workspace/members/${memberId}/role`, roleOf };
    }

    const promote = (person: Visitor, path: string) => person.send(path, { role: 'owner' }, { from: '/dashboard/workspace' });

    it('needs no confirmation right after signing in', async () => {
        const { owner, path, roleOf } = await team();
        expect((await promote(owner, path)).to).to.equal('/dashboard/workspace');
        expect(await roleOf()).to.equal('owner');
    });

    it('asks for the password 15 minutes later, does nothing until then, and leads back', async () => {
        const { owner, path, roleOf } = await team();
        await world.clock.advance({ seconds: 15 * MINUTES + 1 });
        const page = await owner.get('/dashboard/workspace');
        const hidden = { _form: hiddenOf(page.html, '_form') ?? '', _workspace: hiddenOf(page.html, '_workspace') ?? '' };
        const asked = await owner.post(path, new URLSearchParams({ ...hidden, role: 'owner' }).toString());
        expect(asked.to).to.match(/^\/dashboard\/confirm\?next=%2Fdashboard%2Fworkspace%2Fmembers%2Fusr_\w+%2Frole%3Ftyped%3D[\w.-]+$/);
        expect(await roleOf()).to.equal('member');
        const { html } = await owner.get(asked.to ?? '');
        expect(wordsOf(html)).to.include('Confirm your identity');
        expect(html)
            .to.match(/href="\/dashboard\/settings"[^>]*aria-current="page"/)
            .and.not.match(/href="\/dashboard"[^>]*aria-current/);
        const confirm = (password: string) => owner.send('/dashboard/confirm', { password, next: '/dashboard/workspace' });
        expect((await confirm('not the password')).status).to.equal(422);
        await promote(owner, path);
        expect(await roleOf()).to.equal('member');
        expect((await confirm(PASSWORD)).to).to.equal('/dashboard/workspace');
        await promote(owner, path);
        expect(await roleOf()).to.equal('owner');
    });

    it('is confirmed for this session only', async () => {
        const { owner, ownerEmail, path, roleOf } = await team();
        await world.clock.advance({ seconds: 15 * MINUTES + 1 });
        const elsewhere = visitor(world);
        await elsewhere.send('/login', { email: ownerEmail, password: PASSWORD });
        await promote(owner, path);
        expect(await roleOf()).to.equal('member');
        await promote(elsewhere, path);
        expect(await roleOf()).to.equal('owner');
    });

    it('accepts a mailed code from a person without a password: once, for ten minutes, five attempts', async () => {
        const { owner, ownerEmail, ownerId, path, roleOf } = await team();
        await mail.mailTo(ownerEmail);
        await world.app.db.raw('update users set password_hash = null where id = ?', [ownerId]);
        await world.clock.advance({ seconds: 15 * MINUTES + 1 });
        const codeMailed = async () => {
            expect((await owner.send('/dashboard/confirm/code')).to).to.match(/^\/dashboard\/confirm/);
            return /\b\d{8}\b/.exec((await mail.mailTo(ownerEmail)).text)?.[0] ?? '';
        };
        const give = (code: string) => owner.send('/dashboard/confirm', { code, next: '/dashboard/workspace' });
        const old = await codeMailed();
        await world.clock.advance({ seconds: 10 * MINUTES + 1 });
        expect((await give(old)).status).to.equal(422);
        const code = await codeMailed();
        expect((await give(code === '00000000' ? '00000001' : '00000000')).status).to.equal(422);
        expect((await give(code)).to).to.equal('/dashboard/workspace');
        await promote(owner, path);
        expect(await roleOf()).to.equal('owner');
        await world.clock.advance({ seconds: 15 * MINUTES + 1 });
        const last = await codeMailed();
        for (let time = 0; time < 5; time++) expect((await give('12345')).status).to.equal(422);
        expect(wordsOf((await give(last)).html)).to.include('Too many attempts');
    });

    it('accepts the last mailed code after the order for one code too many', async () => {
        const { owner, ownerEmail, ownerId } = await team();
        await mail.mailTo(ownerEmail);
        await world.app.db.raw('update users set password_hash = null where id = ?', [ownerId]);
        await world.clock.advance({ seconds: 15 * MINUTES + 1 });
        let code = '';
        let answer = await owner.send('/dashboard/confirm/code');
        for (; answer.status === 303; answer = await owner.send('/dashboard/confirm/code'))
            code = /\b\d{8}\b/.exec((await mail.mailTo(ownerEmail)).text)?.[0] ?? '';
        expect(answer.status).to.equal(429);
        const [, at = ''] = /action="([^"]+)">(?:(?!<\/form>)[\s\S])*name="code"/.exec(answer.html) ?? [];
        expect((await owner.send(at, { code, next: '/dashboard/workspace' })).to).to.equal('/dashboard/workspace');
    });

    it("leads back to the form with what was typed, and fills in no other form and nobody else's", async () => {
        const owner = await settle(world);
        const { site = '' } = owner.values;
        const url = 'https://hooks.example/in';
        const forms: [path: string, fields: Record<string, string>, page: string, shown: Record<string, string>][] = [
            [
                '/dashboard/webhooks',
                { url, events: 'credits.low', description: 'pager' },
                '/dashboard/webhooks',
                { url, description: 'pager' },
            ],
            [
                '/dashboard/workspace/invitations',
                { email: 'bob@people.example', role: 'admin' },
                '/dashboard/workspace',
                { email: 'bob@people.example' },
            ],
            [
                `/dashboard/schemas/${site}/maintainers`,
                { maintainer: 'wsp_friends' },
                `/dashboard/schemas/${site}`,
                { maintainer: 'wsp_friends' },
            ],
            ['/dashboard/domains', { domain: 'mine.example' }, '/dashboard/domains', { domain: 'mine.example' }],
        ];
        const stranger = await signUp(world);
        for (const [path, fields, page, shown] of forms) {
            await world.clock.advance({ seconds: 15 * MINUTES + 1 });
            const { to = '' } = await owner.send(path, fields);
            const next = new URL(to, world.base).searchParams.get('next') ?? '';
            expect(next.replace(/\?typed=[\w-]+$/, '')).to.equal(path);
            const sealed = Buffer.from(next.split('typed=')[1] ?? '', 'base64url').toString('latin1');
            for (const value of Object.values(fields)) expect(sealed, 'readable in a URL').to.not.include(value);
            expect((await owner.send('/dashboard/confirm', { password: PASSWORD, next })).to).to.equal(next);
            const shownAt = next.replace(path, page);
            if (shownAt !== next) expect((await owner.get(next)).to, path).to.equal(shownAt);
            const { html } = await owner.get(shownAt);
            for (const value of Object.values(shown)) expect(html.split(`value="${value}"`), `${path} ${value}`).to.have.length(2);
            for (const value of Object.values(shown)) expect((await stranger.get(shownAt)).html, path).to.not.include(value);
        }
    });

    it('leads back to an unfolded form, where the role or the reason is still chosen', async () => {
        const { owner, path } = await team();
        const maintainer = await settle(world);
        const { site = '' } = maintainer.values;
        const forms: [person: Visitor, path: string, fields: Record<string, string>, choice: string, usual: string][] = [
            [owner, path, { role: 'billing' }, 'billing', 'member'],
            [maintainer, `/dashboard/schemas/${site}/versions/1/yank`, { reason: 'legal' }, 'legal', 'broken'],
        ];
        for (const [person, at, fields, choice, usual] of forms) {
            await world.clock.advance({ seconds: 15 * MINUTES + 1 });
            const { to = '' } = await person.send(at, fields);
            const next = new URL(to, world.base).searchParams.get('next') ?? '';
            await person.send('/dashboard/confirm', { password: PASSWORD, next });
            const { html } = await person.get((await person.get(next)).to ?? '');
            const menus = html
                .split('<details class="ask"')
                .slice(1)
                .map((part) => part.split('</details>')[0] ?? '');
            const menu = menus.find((part) => part.includes(`action="${at}`)) ?? '';
            expect(menu, at)
                .to.match(/^ open>/)
                .and.match(new RegExp(`value="${choice}" selected`));
            for (const other of menus.filter((one) => one !== menu && one.includes('<select'))) expect(other, at).to.not.match(/^ open/);
            expect(menu).to.not.include(`value="${usual}" selected`);
        }
    });

    it('shows no old form, and no page fails by a link that nobody made', async () => {
        const { owner } = await team();
        await world.clock.advance({ seconds: 15 * MINUTES + 1 });
        const { to = '' } = await owner.send('/dashboard/domains', { domain: 'mine.example' });
        const next = new URL(to, world.base).searchParams.get('next') ?? '';
        expect((await owner.get(next)).html).to.include('mine.example');
        await world.clock.advance({ seconds: 61 * MINUTES });
        expect((await owner.get(next)).html).to.not.include('mine.example');
        for (const typed of ['', 'x', 'eyJhIjoxfQ.AAAAAAAAAAAAAAAAAAAAAA', `${next.split('typed=')[1]}A`])
            expect((await owner.get(`/dashboard/domains?typed=${typed}`)).status, typed).to.equal(200);
    });

    it('leads back only to our own pages', async () => {
        const { owner } = await team();
        for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example']) {
            const { to } = await owner.send('/dashboard/confirm', { password: PASSWORD, next });
            expect(to).to.equal('/dashboard');
        }
    });

    it('is every page that the table marks so, with GET and with POST', async () => {
        const person = await signUp(world);
        await world.clock.advance({ seconds: 15 * MINUTES + 1 });
        const demanding = PAGES.filter(({ needsRecentSignIn, audience }) => needsRecentSignIn === true && audience !== 'operator');
        expect(demanding).to.not.have.length(0);
        for (const page of demanding) {
            const path = pathOf(page, absentValues());
            const { to } = page.method === 'GET' ? await person.get(path) : await person.send(path);
            expect(to, page.path).to.match(/^\/dashboard\/confirm\?next=/);
        }
    });
});
