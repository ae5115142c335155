import { expect } from 'chai';
import { setPlan } from '../../shared/store/accounts/accounts.ts';
import { ATTEMPTS } from '../../shared/store/accounts/attempts.ts';
import { createNotice } from '../../shared/store/accounts/notices.ts';
import { findSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { addMember, createWorkspace } from '../../shared/store/accounts/workspaces.ts';
import { accountCap } from '../../shared/store/credits/spending.ts';
import { eventually } from '../support/eventually.ts';
import { type LocalStripe, openStripe } from '../support/stripe-server.ts';
import { openWorld, type World } from '../support/world.ts';
import { givePasskey } from './support/factor.ts';
import { settle, userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

interface Owner extends Visitor {
    email: string;
    userId: string;
    workspaceId: string;
}

describe('the billing pages', () => {
    let stripe: LocalStripe;
    let world: World;
    before(async () => {
        stripe = await openStripe();
        world = await openWorld({
            workers: 0,
            config: { trustProxy: 1, stripe: stripe.settings, operatorEmails: ['ops@routebook.example'] },
        });
        stripe.serve(world);
    });
    afterEach(() => {
        stripe.fail(undefined);
        stripe.waiting.length = 0;
    });
    after(async () => {
        await world.close();
        await stripe.close();
    });

    async function owner(inWorld = world): Promise<Owner> {
        const email = freshAddress();
        const person = await signUp(inWorld, email);
        const me = await findSignedIn(inWorld.app.db, person.cookies.get('routebook_session') ?? '');
        return { ...person, email, userId: me?.userId ?? '', workspaceId: me?.current?.workspaceId ?? '' };
    }

    async function member(of: Owner, role: 'admin' | 'billing' | 'member'): Promise<Visitor> {
        const email = freshAddress();
        const person = await signUp(world, email);
        await addMember(world.app.db, { workspaceId: of.workspaceId, userId: await userOf(world, email), role });
        await person.send('/dashboard/switch', { workspace: of.workspaceId });
        return person;
    }

    const planOf = async (workspaceId: string) => {
        const { rows } = await world.app.db.raw<{ rows: { plan: string }[] }>('select plan from workspaces where id = ?', [workspaceId]);
        return rows[0]?.plan;
    };
    const sessionIn = (url: string | undefined) => /\/c\/pay\/(cs_\w+)$/.exec(url ?? '')?.[1] ?? '';
    const cookiesOf = ({ cookies }: Visitor) => ({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') });
    const words = async (person: Visitor, path: string) => wordsOf((await person.get(path)).html);

    /** Opens the link of a 402. */
    const upgrade = (person: Visitor, plan: 'starter' | 'pro', workspaceId?: string, headers: Record<string, string> = {}) =>
        person.get(`/upgrade?plan=${plan}${workspaceId === undefined ? '' : `&workspace=${workspaceId}`}`, headers);

    const checkoutsOf = async (workspaceId: string) => {
        const { rows } = await world.app.db.raw<{ rows: unknown[] }>('select from checkouts where workspace_id = ?', [workspaceId]);
        return rows.length;
    };

    /** Goes to the checkout, pays, and returns to the page that Stripe leads to. */
    async function subscribe(person: Owner, plan: 'starter' | 'pro') {
        const { to } = await upgrade(person, plan, person.workspaceId);
        const session = sessionIn(to);
        const subscription = stripe.bank.pay(session);
        const back = await person.get(`/dashboard/billing?checkout=${session}`);
        return { subscription, back };
    }

    describe('lead to a checkout', () => {
        it('directly from the link of a 402, after signing in, for the workspace without credits', async () => {
            const person = await owner();
            const other = (await createWorkspace(world.app.db, person.userId, 'Another one')) ?? '';
            const stranger = visitor(world);
            const path = `/upgrade?plan=starter&workspace=${other}`;
            const first = await stranger.get(path);
            expect(first).to.include({ status: 303, to: `/login?next=${encodeURIComponent(path)}` });
            const signedIn = await stranger.send(
                '/login',
                { email: person.email, password: PASSWORD, next: path },
                { from: first.to ?? '' },
            );
            expect(signedIn.to).to.equal(path);
            const { status, to } = await stranger.get(path);
            expect(status).to.equal(303);
            stripe.bank.pay(sessionIn(to));
            await stripe.deliver();
            expect(await planOf(other)).to.equal('starter');
            expect(await planOf(person.workspaceId)).to.equal('free');
        });

        it('not for a workspace that requires a second factor, before there is one', async () => {
            const person = await owner();
            const other = (await createWorkspace(world.app.db, person.userId, 'The Harbour')) ?? '';
            await world.app.db.raw('update workspaces set demands_factor = true where id = ?', [other]);
            expect(await upgrade(person, 'starter', other)).to.include({ status: 303, to: '/dashboard/settings/factors' });
            expect([await checkoutsOf(other), await planOf(other)]).to.deep.equal([0, 'free']);
            await givePasskey(world, person.userId);
            expect(sessionIn((await upgrade(person, 'starter', other)).to)).to.not.equal('');
        });

        it('by a button if a program prefetches the link or a page embeds it, which starts nothing', async () => {
            const person = await owner();
            const asked = stripe.asked.length;
            const headers: Record<string, string>[] = [
                { 'sec-purpose': 'prefetch', 'sec-fetch-dest': 'document' },
                { 'sec-purpose': 'prefetch;prerender', 'sec-fetch-dest': 'document' },
                { purpose: 'prefetch' },
                { 'x-moz': 'prefetch' },
                ...['image', 'iframe', 'empty', 'embed', 'frame'].map((purpose) => ({ 'sec-fetch-dest': purpose })),
                // A page of another site that redirects the tab there.
                { 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' },
            ];
            for (const header of headers) {
                const page = await upgrade(person, 'starter', person.workspaceId, header);
                expect(page.status, JSON.stringify(header)).to.equal(200);
                expect(wordsOf(page.html)).to.include('$49 a month').and.include('Get Starter');
            }
            expect((await fetch(`${world.base}/upgrade?plan=starter`, { method: 'HEAD', headers: cookiesOf(person) })).status).to.equal(
                200,
            );
            expect((await person.post('/upgrade', 'plan=starter')).status).to.equal(403);
            expect([stripe.asked.length - asked, await checkoutsOf(person.workspaceId)]).to.deep.equal([0, 0]);
            const { to } = await person.send('/upgrade', { plan: 'starter' });
            expect(sessionIn(to)).to.match(/^cs_/);
        });

        it('once, however often the link is opened: the same one for this person and plan, another one otherwise', async () => {
            const person = await owner();
            const payer = await member(person, 'billing');
            const first = await upgrade(person, 'starter', person.workspaceId, { 'sec-fetch-dest': 'document' });
            expect(first.status).to.equal(303);
            expect((await upgrade(person, 'starter', person.workspaceId)).to).to.equal(first.to);
            expect((await person.send('/upgrade', { plan: 'starter' })).to).to.equal(first.to);
            expect(await checkoutsOf(person.workspaceId)).to.equal(1);
            const theirs = await upgrade(payer, 'starter', person.workspaceId);
            expect(theirs.to).not.to.equal(first.to);
            expect(() => stripe.bank.pay(sessionIn(first.to))).to.throw('This session is over.');
            const larger = await upgrade(payer, 'pro', person.workspaceId);
            expect(() => stripe.bank.pay(sessionIn(theirs.to))).to.throw('This session is over.');
            stripe.bank.pay(sessionIn(larger.to));
            await stripe.deliver();
            expect(await planOf(person.workspaceId)).to.equal('pro');
        });

        it('again, if Stripe no longer knows the previous one or it is too old', async () => {
            const person = await owner();
            const first = sessionIn((await upgrade(person, 'starter')).to);
            stripe.bank.get(stripe.bank.sessions, first, 'checkout.session').status = 'expired';
            const second = sessionIn((await upgrade(person, 'starter')).to);
            stripe.bank.sessions.delete(second);
            const third = sessionIn((await upgrade(person, 'starter')).to);
            expect(new Set([first, second, third, '']).size).to.equal(4);
            stripe.bank.pay(third);
            await stripe.deliver();
            expect(await planOf(person.workspaceId)).to.equal('starter');
        });

        it('a limited number of times an hour, and says when again', async () => {
            const person = await owner();
            const { max } = ATTEMPTS['checkout by workspace'];
            for (let count = 0; count < max; count++) expect((await upgrade(person, 'starter')).status).to.equal(303);
            const { status, headers, html } = await upgrade(person, 'starter');
            expect([status, Number(headers['retry-after']) > 0]).to.deep.equal([429, true]);
            expect(wordsOf(html)).to.include('Too many attempts');
        });

        it('from the forms of signing in and signing up as well', async () => {
            const next = encodeURIComponent('/upgrade?plan=starter');
            for (const path of ['/login', '/login/passkey', '/signup']) {
                const policy = async (to: string) =>
                    String((await visitor(world).get(`${path}?next=${to}`)).headers['content-security-policy']);
                expect(await policy(next), path).to.include(`form-action 'self' ${stripe.url};`);
                expect(await policy('%2Fdashboard'), path).to.include("form-action 'self';");
            }
        });

        it('through the second factor, too', async () => {
            const email = freshAddress();
            await signUp(world, email);
            await givePasskey(world, await userOf(world, email));
            const next = '/upgrade?plan=starter';
            const asked = await visitor(world).send('/login', { email, password: PASSWORD, next }, { from: '/login' });
            expect(wordsOf(asked.html)).to.include('Second factor');
            expect(String(asked.headers['content-security-policy'])).to.include(`form-action 'self' ${stripe.url};`);
        });

        it('in the workspace that the page named, even if another tab switched meanwhile', async () => {
            const person = await owner();
            const other = (await createWorkspace(world.app.db, person.userId, 'Another one')) ?? '';
            const { to } = await upgrade(person, 'pro', other);
            stripe.bank.pay(sessionIn(to));
            await person.get(`/dashboard/billing?checkout=${sessionIn(to)}`);
            expect([await planOf(other), await planOf(person.workspaceId)]).to.deep.equal(['pro', 'free']);
            expect(await words(person, '/dashboard/billing')).to.include('invoices of Another one');
        });

        it('through a page in between if Stripe shows checkouts on another domain', async () => {
            const named = { ...stripe.settings, apiBase: stripe.url.replace('127.0.0.1', 'localhost') };
            const elsewhere = await openWorld({ workers: 0, config: { trustProxy: 1, stripe: named } });
            try {
                const person = await owner(elsewhere);
                const page = await upgrade(person, 'starter');
                expect(page.status).to.equal(200);
                expect(page.html).to.match(/<a class="button" href="http:\/\/127\.0\.0\.1:\d+\/c\/pay\/cs_\w+"/);
                stripe.bank.pay(/cs_\w+/.exec(page.html)?.[0] ?? '');
                await person.get(`/dashboard/billing?checkout=${/cs_\w+/.exec(page.html)?.[0]}`);
                const portal = await person.send('/dashboard/billing/portal', {}, { from: '/dashboard/billing' });
                expect(portal.html).to.match(/<a class="button" href="http:\/\/127\.0\.0\.1:\d+\/p\/session\/cus_/);
            } finally {
                await elsewhere.close();
            }
        });

        it('and back: plan, limits and allowance apply at once', async () => {
            const person = await owner();
            const { back } = await subscribe(person, 'starter');
            expect(back).to.include({ status: 303, to: '/dashboard/billing' });
            const page = await words(person, '/dashboard/billing');
            expect(page).to.include('Your billing month starts today.').and.include('15,000 of 15,000').and.include('60 calls a minute');
            expect(page)
                .to.include('$49 a month')
                .and.include('Next billing date')
                .and.match(/RB-\d+ .* Starter, .* \$49\.00/);
        });

        it('and back before payment, and say so', async () => {
            const person = await owner();
            const { to } = await upgrade(person, 'starter');
            const back = await person.get(`/dashboard/billing?checkout=${sessionIn(to)}`);
            expect(back).to.include({ status: 303, to: '/dashboard/billing' });
            expect(await words(person, '/dashboard/billing')).to.include('as soon as Stripe confirms the payment');
            expect(await planOf(person.workspaceId)).to.equal('free');
        });

        it('of nobody else’s workspace, which looks as if it did not exist', async () => {
            const [person, other] = [await owner(), await owner()];
            const [foreign, absent] = await Promise.all([
                person.get(`/upgrade?plan=starter&workspace=${other.workspaceId}`),
                person.get('/upgrade?plan=starter&workspace=wsp_0000000000000000000000'),
            ]);
            expect([foreign.status, absent.status]).to.deep.equal([404, 404]);
        });

        it('not with an existing subscription: a button leads to the price of the change', async () => {
            const person = await owner();
            await subscribe(person, 'starter');
            const { html } = await person.get('/upgrade?plan=pro');
            expect(wordsOf(html)).to.include('You already have a subscription').and.include('Switch to Pro');
            expect(html).to.include('action="/dashboard/billing/plan"');
            expect(await words(person, '/upgrade?plan=starter')).to.include('is already on Starter.');
            expect(await person.send('/upgrade', { plan: 'pro' })).to.include({ status: 303, to: '/dashboard/billing#plans' });
        });

        it('not while Stripe is unavailable, and say so', async () => {
            const person = await owner();
            stripe.fail(500);
            const page = await upgrade(person, 'starter');
            expect(page.status).to.equal(503);
            expect(wordsOf(page.html)).to.include('The payment service does not answer');
            expect(world.logged.map(({ message }) => message)).to.include('Stripe does not answer, or rejects STRIPE_SECRET_KEY');
            stripe.fail(undefined);
            expect(sessionIn((await upgrade(person, 'starter')).to)).to.match(/^cs_/);
        });

        it('not before the address is confirmed, if mails are sent', async () => {
            const mailing = await openWorld({
                workers: 0,
                config: { trustProxy: 1, stripe: stripe.settings, mail: { smtpUrl: 'smtp://127.0.0.1:1', from: undefined } },
            });
            try {
                const person = await owner(mailing);
                expect(wordsOf((await person.get('/upgrade?plan=starter')).html)).to.include('Confirm your email address first');
                expect(wordsOf((await person.send('/upgrade', { plan: 'starter' })).html)).to.include('Confirm your email address first');
                await mailing.app.db.raw('update users set verified_at = app_now() where id = ?', [person.userId]);
                expect(sessionIn((await upgrade(person, 'starter')).to)).to.match(/^cs_/);
            } finally {
                await mailing.close();
            }
        });

        it('not for Enterprise, which is sold in person', async () => {
            const person = await owner();
            const page = await person.get('/upgrade?plan=enterprise');
            expect(page.status).to.equal(200);
            expect(page.html).to.include('mailto:ops@routebook.example');
        });

        it('not for a smaller plan than the operator set', async () => {
            const person = await owner();
            await setPlan(world.app.db, person.workspaceId, 'pro', {});
            expect(await words(person, '/upgrade?plan=starter')).to.include('set by the operator');
            expect(wordsOf((await person.send('/upgrade', { plan: 'starter' })).html)).to.include('set by the operator');
        });
    });

    describe('depend on the role:', () => {
        it('an admin reads them and changes nothing', async () => {
            const boss = await owner();
            await subscribe(boss, 'starter');
            const admin = await member(boss, 'admin');
            const page = await admin.get('/dashboard/billing');
            expect(page.status).to.equal(200);
            expect(wordsOf(page.html)).to.include('Owners and members with the billing role can change the plan');
            expect(page.html).not.to.include('/dashboard/billing/plan"').and.not.include('hosted_invoice');
            expect((await admin.send('/dashboard/billing/plan/confirm', { plan: 'free' })).status).to.equal(403);
            expect((await admin.send('/dashboard/billing/portal')).status).to.equal(403);
            expect(await words(admin, `/upgrade?plan=pro&workspace=${boss.workspaceId}`)).to.include('Ask an owner');
            expect((await admin.send('/upgrade', { plan: 'pro' })).status).to.equal(403);
        });

        it('a member cannot read them', async () => {
            const boss = await owner();
            const worker = await member(boss, 'member');
            expect((await worker.get('/dashboard/billing')).status).to.equal(403);
            expect((await worker.get('/dashboard')).html).not.to.include('href="/dashboard/billing"');
        });

        it('the role billing buys and changes plans', async () => {
            const boss = await owner();
            const payer = await member(boss, 'billing');
            const { to } = await upgrade(payer, 'starter', boss.workspaceId);
            stripe.bank.pay(sessionIn(to));
            await stripe.deliver();
            expect(await planOf(boss.workspaceId)).to.equal('starter');
            expect((await payer.send('/dashboard/billing/plan/confirm', { plan: 'free' }, { from: '/dashboard/billing' })).to).to.equal(
                '/dashboard/billing',
            );
            expect(await words(boss, '/dashboard/billing')).to.match(/Ends .* then Free/);
        });
    });

    describe('change a subscription', () => {
        const change = (person: Visitor, plan: string) => person.send('/dashboard/billing/plan', { plan }, { from: '/dashboard/billing' });
        const confirm = (person: Visitor, plan: string) =>
            person.send('/dashboard/billing/plan/confirm', { plan }, { from: '/dashboard/billing' });

        it('up, after saying what it costs today', async () => {
            const person = await owner();
            await subscribe(person, 'starter');
            await stripe.deliver();
            const asked = wordsOf((await change(person, 'pro')).html);
            expect(asked)
                .to.match(/\$100\.\d\d today, then \$149 a month/)
                .and.include('60,000 credits');
            expect(await planOf(person.workspaceId)).to.equal('starter');
            expect((await confirm(person, 'pro')).to).to.equal('/dashboard/billing');
            expect(await words(person, '/dashboard/billing')).to.include('60,000 of 60,000');
        });

        it('down, at the end of the month as they say, and can be cancelled', async () => {
            const person = await owner();
            await subscribe(person, 'pro');
            expect(wordsOf((await change(person, 'starter')).html)).to.include('Nothing is charged or refunded now.');
            await confirm(person, 'starter');
            const page = await words(person, '/dashboard/billing');
            expect(page).to.include('Next plan Starter').and.include('Keep Pro');
            await confirm(person, 'pro');
            expect(await words(person, '/dashboard/billing')).not.to.include('Next plan');
        });

        it('not if the bank declines, and show where to pay', async () => {
            const person = await owner();
            const { subscription } = await subscribe(person, 'starter');
            stripe.bank.get(stripe.bank.customers, subscription.customer, 'customer').card = 'declined';
            const page = await confirm(person, 'pro');
            expect(page.status).to.equal(200);
            expect(page.html).to.match(/href="http:\/\/127\.0\.0\.1:\d+\/i\/in_/);
            expect(wordsOf(page.html)).to.include('You are still on Starter');
        });

        it('in Stripe’s portal, for card and invoices', async () => {
            const person = await owner();
            const open = () => person.send('/dashboard/billing/portal', {}, { from: '/dashboard/billing' });
            expect(wordsOf((await open()).html)).to.include('No card on file yet');
            await subscribe(person, 'starter');
            const { html, headers } = await person.get('/dashboard/billing');
            expect(html).to.include('<form method="post" action="/dashboard/billing/portal">');
            expect(headers['content-security-policy']).to.include(`form-action 'self' ${stripe.url}`);
            const asked = stripe.asked.length;
            // Neither a link nor a form of another site opens the portal.
            expect((await person.get('/dashboard/billing/portal')).to).to.equal('/dashboard/billing');
            expect((await person.post('/dashboard/billing/portal', '')).status).to.equal(403);
            expect(stripe.asked.length).to.equal(asked);
            const { to } = await open();
            expect(to).to.match(/\/p\/session\/cus_/);
            expect(to).to.include(encodeURIComponent(`${world.base.replace('127.0.0.1', 'localhost')}/dashboard/billing`));
        });

        it('say when a payment failed', async () => {
            const person = await owner();
            const { subscription } = await subscribe(person, 'starter');
            stripe.bank.get(stripe.bank.customers, subscription.customer, 'customer').card = 'declined';
            await world.clock.advance({ days: 31 });
            stripe.bank.turn();
            await stripe.deliver();
            const again = visitor(world);
            await again.send('/login', { email: person.email, password: PASSWORD }, { from: '/login' });
            expect(await words(again, '/dashboard/billing')).to.include('Your last payment failed.');
        });

        it('accept forms only from our own pages', async () => {
            const person = await owner();
            const forged = await person.post('/dashboard/billing/plan/confirm', 'plan=free');
            expect(forged.status).to.equal(403);
        });
    });

    describe('set spending caps:', () => {
        const setCap = (person: Visitor, cap: string) => person.send('/dashboard/billing/cap', { cap }, { from: '/dashboard/billing' });

        it('of the account, by its payer', async () => {
            const boss = await owner();
            const admin = await member(boss, 'admin');
            expect((await setCap(boss, '2,500')).to).to.equal('/dashboard/billing');
            expect(await accountCap(world.app.db, boss.userId)).to.deep.equal({ cap: 2_500, spent: 0 });
            expect(await words(boss, '/dashboard/billing')).to.include('0 of 2,500 spent today');
            expect((await admin.send('/dashboard/billing/cap', { cap: '1' })).status).to.equal(403);
            await setCap(boss, '');
            expect(await accountCap(world.app.db, boss.userId)).to.include({ cap: null });
        });

        for (const cap of ['-1', '1.5', 'many', '1000001', '99999999999999']) {
            it(`and name the mistake in ${cap}`, async () => {
                const person = await owner();
                const page = await setCap(person, cap);
                expect(page.status).to.equal(422);
                // Beside the field of the cap, and not above the plans.
                expect(wordsOf(page.html)).to.include('Use a whole number up to 1,000,000').and.not.include('Please fix');
                expect(page.html).to.include(`value="${cap}"`);
                expect(await accountCap(world.app.db, person.userId)).to.include({ cap: null });
            });
        }

        it('of a key, by anyone who may see it', async () => {
            const person = await owner();
            await person.send('/dashboard/keys', { name: 'laptop', expires: 'never' }, { from: '/dashboard/keys' });
            const path = /\/dashboard\/keys\/key_\w+/.exec((await person.get('/dashboard/keys')).html)?.[0] ?? '';
            expect((await person.send(`${path}/cap`, { cap: '40' }, { from: path })).to).to.equal(path);
            expect(await words(person, path)).to.include('0 of 40 spent today');
            expect((await person.send(`${path}/cap`, { cap: 'x' }, { from: path })).status).to.equal(422);
            const confirmation = { confirm_above: '5' };
            expect((await person.send(`${path}/confirmation`, confirmation, { from: path })).to).to.equal(path);
            expect((await person.send(`${path}/confirmation`, { confirm_above: '-1' }, { from: path })).status).to.equal(422);
            const rotated = await person.send(`${path}/rotate`, { overlap: 'now' }, { from: path });
            expect(rotated.status).to.equal(200);
            const next = [...(await person.get('/dashboard/keys')).html.matchAll(/\/dashboard\/keys\/key_\w+/g)]
                .map(([found]) => found)
                .find((found) => found !== path);
            expect(await words(person, next ?? '')).to.include('of 40 spent today');
        });
    });

    describe('show notices', () => {
        async function noticed(): Promise<{ person: Owner; id: string }> {
            const person = await owner();
            await createNotice(world.app.db, {
                kind: 'plan_ended',
                accountId: person.userId,
                workspaceId: person.workspaceId,
                subject: 'sub_1',
                facts: { why: 'refund' },
            });
            const id = /ntc_\w+/.exec((await person.get('/dashboard')).html)?.[0] ?? '';
            return { person, id };
        }

        it('on the overview and here, until they are dismissed', async () => {
            const { person, id } = await noticed();
            for (const path of ['/dashboard', '/dashboard/billing']) {
                expect(await words(person, path)).to.include('This workspace is now on Free. The payment was refunded.');
            }
            expect((await person.send('/dashboard/notices/dismiss', { notice: id })).to).to.equal('/dashboard');
            expect(await words(person, '/dashboard')).not.to.include('refunded');
        });

        it('to nobody else, who cannot dismiss them either', async () => {
            const { person, id } = await noticed();
            const other = await owner();
            const [foreign, absent] = [
                await other.send('/dashboard/notices/dismiss', { notice: id }),
                await other.send('/dashboard/notices/dismiss', { notice: 'ntc_0000000000000000000000' }),
            ];
            expect([foreign.status, absent.status]).to.deep.equal([404, 404]);
            expect(await words(person, '/dashboard')).to.include('refunded');
        });
    });

    it('end the subscription when the account is deleted', async () => {
        const person = await owner();
        const { subscription } = await subscribe(person, 'starter');
        const gone = await person.send('/dashboard/settings/delete', { password: PASSWORD }, { from: '/dashboard/settings' });
        expect(gone.status).to.equal(303);
        expect(stripe.bank.subscriptions.get(subscription.id)?.status).to.equal('canceled');
    });

    it('keep an account whose subscription cannot be ended', async () => {
        const person = await owner();
        const { subscription } = await subscribe(person, 'starter');
        stripe.fail('close');
        const refused = await person.send('/dashboard/settings/delete', { password: PASSWORD }, { from: '/dashboard/settings' });
        expect(refused.status).to.equal(503);
        stripe.fail(undefined);
        expect(stripe.bank.subscriptions.get(subscription.id)?.status).to.equal('active');
        expect((await person.get('/dashboard/settings')).status).to.equal(200);
    });

    it('change the limits of an API key within a second', async () => {
        const person = await owner();
        const made = await person.send('/dashboard/keys', { name: 'laptop', expires: 'never' }, { from: '/dashboard/keys' });
        const apiKey = /rb_live_\w+/.exec(made.html)?.[0] ?? '';
        const account = async () => {
            const answer = await fetch(`${world.base}/v1/account`, { headers: { authorization: `Bearer ${apiKey}` } });
            return ((await answer.json()) as { data: { plan: string; limits: { limit: number }[]; credits: { balance: number } } }).data;
        };
        expect(await account()).to.include({ plan: 'free' });
        await subscribe(person, 'starter');
        await eventually(
            account,
            ({ plan, limits, credits }) => plan === 'starter' && limits[0]?.limit === 60 && credits.balance === 15_000,
        );
    });

    it('say how to ask the operator if payment is not configured, and show the plan that the operator sets', async () => {
        const operatorEmails = ['ops@routebook.example'];
        const plain = await openWorld({ workers: 0, config: { trustProxy: 1, operatorEmails } });
        try {
            const person = await owner(plain);
            for (const path of ['/dashboard/billing', '/upgrade?plan=starter']) {
                const { html } = await person.get(path);
                expect(html).to.include('mailto:ops@routebook.example').and.not.include('npm run admin');
                expect(wordsOf(html)).to.include('Online payment is not set up').and.include(`name your workspace: ${person.workspaceId}`);
            }
            expect(await words(visitor(plain), '/upgrade')).to.not.include('npm run admin');
            expect((await person.send('/upgrade', { plan: 'starter' })).status).to.equal(200);
            await setPlan(plain.app.db, person.workspaceId, 'starter', {});
            expect(wordsOf((await person.get('/dashboard/billing')).html)).to.include('15,000 of 15,000');
            const operator = await settle(plain);
            operatorEmails.push(operator.email);
            expect(await words(operator, '/dashboard/billing')).to.include(`plan set ${operator.workspaceId} starter`);
            expect(await words(operator, '/upgrade')).to.include('npm run admin -- plan set WORKSPACE PLAN');
        } finally {
            await plain.close();
        }
    });
});
