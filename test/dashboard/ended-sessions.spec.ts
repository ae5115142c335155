import { expect } from 'chai';
import { endSessions, selectWorkspace } from '../../shared/store/accounts/user-sessions.ts';
import { createWorkspace } from '../../shared/store/accounts/workspaces.ts';
import { oauthOf } from '../agents/support/oauth.ts';
import { join as joinWorld } from '../support/people.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, hiddenOf, PASSWORD, type PageAnswer, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

describe('a form that is sent after the session ended', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });

    async function join() {
        const email = freshAddress();
        const person = await signUp(world, email);
        return { email, person, userId: await userOf(world, email) };
    }

    /** Opens the page, ends every session, sends the form, and signs in where that leads to. */
    async function sendLate(
        { email, person, userId }: Awaited<ReturnType<typeof join>>,
        { page, form = page, fields }: { page: string; form?: string; fields: Record<string, string> },
        signsIn: (to: string) => Promise<PageAnswer> = (to) => signIn(person, email, to),
    ) {
        const { html } = await person.get(page);
        const hidden = { _form: hiddenOf(html, '_form') ?? '', _workspace: hiddenOf(html, '_workspace') ?? '' };
        await endSessions(world.app.db, userId);
        const asked = await person.post(form, new URLSearchParams({ ...hidden, ...fields }).toString());
        expect(asked.to, asked.html).to.match(/^\/login\?next=/);
        expect(wordsOf((await person.get(asked.to ?? '')).html)).to.include('Nothing was changed because your session ended.');
        return { asked: asked.to ?? '', entered: await signsIn(asked.to ?? '') };
    }

    function signIn(person: Visitor, email: string, to: string) {
        const next = new URL(to, world.base).searchParams.get('next') ?? '';
        return person.send('/login', { email, password: PASSWORD, next }, { from: to });
    }

    /** The page that a redirect leads to in the end. */
    async function arrive(person: Visitor, { to = '' }: PageAnswer): Promise<string> {
        const answer = await person.get(to);
        return answer.to === undefined ? answer.html : (await person.get(answer.to)).html;
    }

    it('is shown again with what was typed, once its sender has signed in', async () => {
        const me = await join();
        const { person } = me;
        await person.send('/dashboard/keys', { name: 'first', expires: 'never' });
        expect((await (await joinWorld(world)).publish(aPackage('forms.example'))).status).to.equal(201);
        const [endpoint = ''] = aPackage('forms.example').endpoints.map(({ name }) => name);
        const site = `site=forms.example&endpoint=${endpoint}`;
        const keyId = /\/dashboard\/keys\/(key_\w+)/.exec((await person.get('/dashboard/keys')).html)?.[1] ?? '';
        const forms: { page: string; form?: string; fields: Record<string, string>; shown?: string[] }[] = [
            { page: '/dashboard/keys', fields: { name: 'night shift', expires: 'quarter', cap: '120' } },
            { page: `/dashboard/keys/${keyId}`, form: `/dashboard/keys/${keyId}/rename`, fields: { name: 'renamed late' } },
            { page: '/dashboard/webhooks', fields: { url: 'https://hooks.example/late', events: 'job.*', description: 'pager' } },
            { page: `/dashboard/monitors/new?${site}`, fields: { name: 'prices', every: '1d', watch: 'items[].price' } },
            { page: '/dashboard/jobs/batches/new', fields: { site: 'forms.example', endpoint, name: 'late rows', csv: 'id\n17171\n' } },
            { page: '/dashboard/schemas/new', fields: { package: '{"format": "routebook/1", "late": 1}' } },
            { page: '/dashboard/workspace', form: '/dashboard/workspace/rename', fields: { name: 'Harbour office' } },
            { page: '/dashboard/invite', fields: { email: 'friend@people.example' } },
            { page: '/dashboard/connections', form: '/dashboard/connections/redirects', fields: { redirects: 'https://app.example/late' } },
            { page: `/registry/forms.example/try/${endpoint}`, fields: { 'param-0': '4242', max_results: '7' } },
        ];
        for (const { page, form, fields } of forms) {
            const { entered } = await sendLate(me, { page, fields, ...(form === undefined ? {} : { form }) });
            const words = (await arrive(person, entered)).replaceAll('&quot;', '"');
            for (const value of Object.values(fields)) expect(words, `${page}: ${value}`).to.include(value.trim());
        }
    });

    it('acts in the workspace in which it was shown', async () => {
        const me = await join();
        const { db } = world.app;
        const other = (await createWorkspace(db, me.userId, 'Side project')) ?? '';
        const { rows } = await db.raw('select id from web_sessions where user_id = ?', [me.userId]);
        await selectWorkspace(db, rows[0].id, other);
        const { entered } = await sendLate(me, { page: '/dashboard/keys', fields: { name: 'of the side project' } });
        const html = await arrive(me.person, entered);
        expect(html).to.include('of the side project');
        expect(hiddenOf(html, '_workspace')).to.equal(other);
        expect(hiddenOf((await me.person.get('/dashboard/keys')).html, '_workspace')).to.not.equal(other);
    });

    it('of a consent leads back to the app that asks', async () => {
        const me = await join();
        const oauth = oauthOf(world);
        const redirectUri = 'http://127.0.0.1:7777/back';
        const { query } = oauth.request(await oauth.register(redirectUri, 'Late app'), redirectUri);
        const page = `/oauth/authorize?${new URLSearchParams(query)}`;
        const { entered } = await sendLate(me, { page, form: '/oauth/authorize', fields: { ...query, cap: '73', decision: 'allow' } });
        const html = await arrive(me.person, entered);
        expect(wordsOf(html)).to.include('Late app');
        expect(html).to.include('value="73"').and.include(`name="client_id" value="${query['client_id']}"`);
    });

    it('is not shown to somebody else in the same browser, nor in another browser', async () => {
        const fields = { name: 'my own words' };
        for (const isSameBrowser of [true, false]) {
            const [me, other] = [await join(), await join()];
            const browser = isSameBrowser ? me.person : visitor(world);
            const { entered } = await sendLate(me, { page: '/dashboard/keys', fields }, (to) => {
                return signIn(browser, isSameBrowser ? other.email : me.email, to);
            });
            expect(entered.to).to.match(/^\/dashboard\/keys\?typed=/);
            const page = await browser.get(entered.to ?? '');
            expect(page.status).to.equal(200);
            expect(page.html).to.not.include(fields.name);
        }
    });

    it('keeps no password and no secret, and nothing of a form of another page', async () => {
        const me = await join();
        const secret = { page: '/dashboard/connections/new', form: '/dashboard/connections', fields: { secret: 'hush', password: 'hush' } };
        const { asked } = await sendLate(me, secret);
        expect(new URL(asked, world.base).searchParams.get('next')).to.equal('/dashboard/connections');
        await endSessions(world.app.db, me.userId);
        const forged = await me.person.post('/dashboard/keys', new URLSearchParams({ name: 'forged', _form: 'AAAA' }).toString());
        expect(forged.to).to.equal('/login?next=%2Fdashboard%2Fkeys');
    });

    it('leads to the sign-in page even if it is too large for a visitor', async () => {
        const { person, userId } = await join();
        const { html } = await person.get('/dashboard/schemas/new');
        await endSessions(world.app.db, userId);
        const body = new URLSearchParams({ _form: hiddenOf(html, '_form') ?? '', package: 'x'.repeat(200_000) });
        expect((await person.post('/dashboard/schemas/new', body.toString())).to).to.equal('/login?next=%2Fdashboard%2Fschemas%2Fnew');
    });
});
