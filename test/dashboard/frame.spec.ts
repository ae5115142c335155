import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { authorize } from '../../api/dashboard/authorize.ts';
import { dashboardMenu } from '../../api/dashboard/navigation.ts';
import { operatorPage, type Visit } from '../../api/dashboard/page.ts';
import { PAGES } from '../../api/dashboard/pages.ts';
import { Refusal } from '../../shared/refusals.ts';
import { findSignedIn, type SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { stranger } from '../support/people.ts';
import { openWorld, useWorld } from '../support/world.ts';
import { absentValues, pathOf, SHOWN } from './support/places.ts';
import { settle } from './support/settled.ts';
import { freshAddress, PASSWORD, signUp, visitor, wordsOf } from './support/visitor.ts';

const VIEWS = fileURLToPath(new URL('../../api/dashboard/views', import.meta.url));

const PAGE_RULES = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
];
const FILE_RULES = ["default-src 'none'", 'sandbox'];

describe('every page', () => {
    const operatorEmails: string[] = [];
    const world = useWorld({ workers: 0, config: { trustProxy: 1, operatorEmails } });

    it('forbids the browser to run, load, frame or send anything to other origins', async () => {
        const person = await signUp(world);
        for (const page of SHOWN) {
            const { headers, html } = await person.get(pathOf(page, absentValues()));
            if (headers.location !== undefined) continue;
            const policy = String(headers['content-security-policy']);
            // A download is neither run nor shown.
            const isFile = String(headers['content-disposition'] ?? '').startsWith('attachment');
            for (const rule of isFile ? FILE_RULES : PAGE_RULES) expect(policy.split('; '), page.path).to.include(rule);
            expect(policy).not.to.match(/unsafe|https?:/);
            expect(headers, page.path).to.include({
                'x-content-type-options': 'nosniff',
                'x-frame-options': 'DENY',
                'referrer-policy': 'same-origin',
                'cache-control': 'no-store',
            });
            expect(headers, page.path).not.to.have.any.keys('access-control-allow-origin', 'strict-transport-security');
            expect(html, page.path).not.to.match(/ style=|<style|<script>| on[a-z]+=|hx-on/);
        }
    });

    it('requires https if PUBLIC_URL does: for cookies, and in browsers for a year', async () => {
        const secure = await openWorld({ workers: 0, config: { publicUrl: 'https://routebook.example' } });
        try {
            const person = visitor(secure);
            const { headers } = await person.get('/login');
            expect(headers['strict-transport-security']).to.equal('max-age=31536000');
            const [cookie] = headers['set-cookie'] ?? [];
            expect(cookie).to.match(/^__Host-routebook_visit=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/);
        } finally {
            await secure.close();
        }
    });

    it('loads less than 100 KiB in total, uncompressed', async () => {
        const person = await settle(world);
        operatorEmails.push(person.email);
        for (const page of SHOWN) {
            const { html } = await person.get(pathOf(page, person.values));
            const files = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
            const bodies = await Promise.all(files.map((path) => person.get(path)));
            for (const { status, headers } of bodies) {
                expect(status).to.equal(200);
                expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
            }
            const bytes = [html, ...bodies.map((body) => body.html)].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
            expect(bytes, page.path).to.be.lessThan(100 * 1024);
        }
    });

    it('redirects anonymous visitors to sign in, and back, if it is only for users', async () => {
        for (const page of PAGES.filter(({ audience }) => audience !== 'anyone' && audience !== 'operator')) {
            const path = pathOf(page, absentValues());
            const person = visitor(world);
            const { status, to } = page.method === 'GET' ? await person.get(path) : await person.send(path);
            expect(status, path).to.equal(303);
            expect(to, path).to.equal(`/login?next=${encodeURIComponent(path)}`);
        }
    });

    it('for operators does not exist for anybody else', async () => {
        const page = operatorPage({ method: 'GET', path: '/dashboard/operator', respond: async () => ({ to: '/' }) });
        const me = await findSignedIn(world.app.db, (await signUp(world)).cookies.get('routebook_session') ?? '');
        const visitBy = (visit: { me: typeof me; isOperator: boolean }) => authorize(page, visit as unknown as Visit);
        for (const visit of [
            { me: undefined, isOperator: false },
            { me, isOperator: false },
        ]) {
            expect(() => visitBy(visit))
                .to.throw(Refusal)
                .with.property('code', 'NOT_FOUND');
        }
        expect(visitBy({ me: me && { ...me, hasFactor: true }, isOperator: true })).to.equal(undefined);
    });

    it('answers HEAD and OPTIONS like any route, and other methods with 405', async () => {
        const ask = (method: string, accept: string) => fetch(`${world.base}/signup`, { method, headers: { accept } });
        expect((await ask('HEAD', 'text/html')).status).to.equal(200);
        const options = await ask('OPTIONS', '*/*');
        expect([options.status, options.headers.get('allow')]).to.deep.equal([204, 'GET, HEAD, POST, OPTIONS']);
        expect(options.headers.get('access-control-allow-origin')).to.equal(null);
        const refused = await ask('DELETE', 'text/html');
        expect(refused.status).to.equal(405);
        expect(wordsOf(await refused.text())).to.include('This address only takes forms. Open the page first');
    });

    it('stands behind the address of each of its forms, so that a reload after an error finds it', async () => {
        const person = await signUp(world);
        for (const [form, page] of [
            ['/dashboard/settings/password', '/dashboard/settings'],
            ['/dashboard/workspaces', '/dashboard'],
            ['/dashboard/keys/key_1/revoke', '/dashboard/keys/key_1'],
        ] as const) {
            const { status, to } = await person.get(form);
            expect([status, to], form).to.deep.equal([303, page]);
        }
    });

    it('that does not exist is an HTML page for people and the error envelope for programs', async () => {
        const person = await visitor(world).get('/no/such/page');
        expect([person.status, person.headers['content-type']]).to.deep.equal([404, 'text/html; charset=utf-8']);
        expect(wordsOf(person.html)).to.include('Page not found').and.include('Check the address.');
        const machine = await stranger(world).call('GET', '/no/such/page');
        expect(machine.body).to.have.nested.property('error.code', 'NOT_FOUND');
        const api = await visitor(world).get('/v1/schemas/nobody.example');
        expect(JSON.parse(api.html)).to.have.nested.property('error.code', 'SITE_NOT_FOUND');
    });

    it('that does not exist knows who is signed in', async () => {
        const person = await signUp(world);
        const { status, html } = await person.get('/no/such/page');
        expect(status).to.equal(404);
        // The number of reads of one client is limited, and that of other requests to no page is not.
        expect(wordsOf((await person.post('/no/such/page', '')).html)).to.include('Sign in');
        expect(wordsOf(html)).to.include('Dashboard').and.not.include('Sign in');
        expect(wordsOf((await visitor(world).get('/no/such/page')).html)).to.include('Sign in');
        expect((await visitor(world).post('/no/such/page', '')).status).to.equal(404);
    });

    it('leads a visitor whose session ended back to the page of the form, and says that nothing was changed', async () => {
        const email = freshAddress();
        const person = await signUp(world, email);
        person.cookies.delete('routebook_session');
        const { to = '' } = await person.send('/dashboard/workspace/leave', {}, { from: '/login' });
        expect(to).to.equal('/login?next=%2Fdashboard%2Fworkspace%2Fleave');
        expect(wordsOf((await person.get(to)).html)).to.include('Nothing was changed because your session ended.');
        const next = new URL(to, world.base).searchParams.get('next') ?? '';
        const signedIn = await person.send('/login', { email, password: PASSWORD, next }, { from: to });
        expect((await person.get(signedIn.to ?? '')).to).to.equal('/dashboard/workspace');
    });

    it('says what to do when it cannot be shown, and offers to try again', async () => {
        await world.app.db.raw(
            'alter table requested_domains rename to away; create view requested_domains as select * from away where 1 / 0 > 0',
        );
        const { status, html } = await visitor(world)
            .get('/requests?a=1')
            .finally(() => world.app.db.raw('drop view requested_domains; alter table away rename to requested_domains'));
        expect(status).to.equal(500);
        expect(wordsOf(html)).to.include('This is a bug, and it was logged. Try again. If it happens again, send us the request ID');
        expect(html).to.include('href="/requests?a=1">Try again');
    });

    it('marks its place in the menu, and leads from the dashboard to the registry and the documentation', async () => {
        const person = await signUp(world);
        const places = [
            ['/dashboard', ['Overview']],
            ['/dashboard/audit', ['Workspace', 'Audit log']],
            ['/dashboard/jobs/batches', ['Jobs', 'Batches']],
            ['/dashboard/statement', ['Usage', 'Statement']],
        ] as const;
        for (const [path, labels] of places) {
            const { html } = await person.get(path);
            expect([...html.matchAll(/aria-current="page">([^<]+)<\/a>/g)].map(([, text]) => text)).to.deep.equal(labels);
            expect(html).to.include('<a href="/registry">Registry</a>').and.include('<a href="/docs">Docs</a>');
        }
        const lost = await person.get('/dashboard/jobs/job_nothing');
        expect(lost.status).to.equal(404);
        expect(wordsOf(lost.html)).to.include('another of your workspaces');
        expect(lost.html).to.include('href="/dashboard">Go to the dashboard');
    });

    it('is in the menu only for roles that may open it', () => {
        const menuOf = (role: 'billing' | 'member') =>
            dashboardMenu({ current: { role } } as unknown as SignedIn, false, '/dashboard/statement');
        const billing = menuOf('billing');
        expect(billing.tabs.map(({ label, path }) => `${label} ${path}`)).to.deep.equal([
            'Overview /dashboard',
            'Usage /dashboard/statement',
            'Billing /dashboard/billing',
            'Workspace /dashboard/workspace',
        ]);
        expect(billing.beside).to.equal(undefined);
        expect(menuOf('member').beside?.entries.map(({ label }) => label)).to.deep.equal(['Charts', 'Request log', 'Statement']);
    });

    it('that looks the same to all strangers knows who signed in since, and shows them their notice', async () => {
        const [person, email] = [visitor(world), freshAddress()];
        for (const _ of [1, 2]) expect(wordsOf((await person.get('/docs')).html)).to.include('Sign in');
        await person.send('/signup', { email, password: PASSWORD }, { from: '/signup' });
        expect(wordsOf((await person.get('/docs')).html))
            .to.include('Dashboard')
            .and.include('Your account is ready.');
        expect(wordsOf((await visitor(world).get('/docs')).html))
            .to.include('Sign in')
            .and.not.include('Your account is ready.');
        expect((await visitor(world).get('/docs/api/no-such-chapter')).status).to.equal(404);
    });

    it('that looks the same to all strangers has no form with the token of one of them', async () => {
        const shared = PAGES.filter(({ kept }) => kept !== undefined);
        expect(shared.map(({ path }) => path)).to.include.members(['/', '/registry', '/docs']);
        for (const page of shared)
            expect((await visitor(world).get(pathOf(page, absentValues()))).html, page.path).to.not.include('name="_form"');
    });

    it('shows its notice once', async () => {
        const person = await signUp(world);
        expect(wordsOf((await person.get('/dashboard')).html)).to.include('Your account is ready.');
        expect(wordsOf((await person.get('/dashboard')).html)).to.not.include('Your account is ready.');
        person.cookies.set('routebook_notice', 'somebody-elses-words');
        expect((await person.get('/dashboard')).status).to.equal(200);
    });

    it('escapes its data, except in layouts, includes, our own hidden fields, our documents and text that is already escaped', () => {
        const files = readdirSync(VIEWS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.eta'));
        expect(files.length).to.be.greaterThan(15);
        for (const file of files) {
            const raw = [...readFileSync(join(VIEWS, file), 'utf8').matchAll(/<%~\s*([^%]*?)\s*%>/g)].map(([, code]) => code ?? '');
            for (const code of raw)
                expect(code, file).to.match(/^(include\(|it\.body$|(it\.)?page\.secrets\(\)$|page\.large$|it\.article$)/);
        }
    });
});
