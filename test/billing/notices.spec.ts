import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { listNotices } from '../../shared/store/accounts/notices.ts';
import { watchSpending } from '../../workers/watch-spending.ts';
import { holdMails, mailsTo, type WaitingMail } from '../support/mails.ts';
import type { Person } from '../support/people.ts';
import { newcomer, useBillingWorld } from './billing-world.ts';

describe('users are notified', () => {
    const fixture = useBillingWorld();
    // Without a mail server, mails would go to the log. Here they stay in the outbox.
    before(() => holdMails(fixture.world.app));

    const mailsFor = async ({ userId }: Person): Promise<WaitingMail[]> => {
        const { rows } = await fixture.world.app.db.raw<{ rows: { email: string }[] }>('select email from users where id = ?', [userId]);
        return mailsTo(fixture.world.app, rows[0]?.email ?? '');
    };
    const noticesFor = async (person: Person, more: { seesKeys?: boolean; seesPlans?: boolean } = {}) => {
        const { rows } = await fixture.world.app.db.raw<{ rows: { plan: string }[] }>('select plan from workspaces where id = ?', [
            person.workspaceId,
        ]);
        const accountId = rows[0]?.plan === 'free' ? person.userId : person.workspaceId;
        const { workspaceId, userId } = person;
        return listNotices(fixture.world.app.db, { accountId, workspaceId, userId, seesKeys: true, seesPlans: true, ...more });
    };
    const watch = async () => {
        await fixture.world.app.usage.flush();
        await fixture.world.clock.advance({ seconds: 16 });
        await watchSpending(fixture.world.app);
    };
    const keyOf = async ({ workspaceId }: Person) => {
        const { rows } = await fixture.world.app.db.raw<{ rows: { id: string }[] }>('select id from api_keys where workspace_id = ?', [
            workspaceId,
        ]);
        return rows[0]?.id ?? '';
    };

    /** A call as the API records it: in the ledger and in the request log. */
    async function call(
        person: Person,
        { credits = 0, outcome = 'success' as const, endpoint = 'search', accountId = person.userId } = {},
    ) {
        const { app } = fixture.world;
        const [operation, keyId] = [newId('op'), await keyOf(person)];
        const who = { accountId, userId: person.userId, workspaceId: person.workspaceId, keyId };
        const what = { operation, site: 'shop.example', endpoint };
        if (credits > 0) {
            const held = await app.credits.hold({
                ...who,
                ...what,
                versionId: 1,
                effect: 'read',
                unit: 1,
                maxUnits: credits,
                expiresInMs: 30_000,
            });
            if (!held.ok) throw new Error('no credits');
            await app.credits.charge({ operation, amount: credits });
        }
        app.usage.record({ ...who, ...what, kind: 'fetch', registrable: 'shop.example', outcome, credits, durationMs: 5 });
    }
    const fail = (person: Person, times: number, endpoint = 'search') =>
        repeat(times, () => call(person, { outcome: 'UPSTREAM_TIMEOUT' as 'success', endpoint }));
    async function repeat(times: number, work: () => Promise<void>): Promise<void> {
        for (let done = 0; done < times; done++) await work();
    }

    describe('of their allowance', () => {
        it('when four fifths are used, and when all of it is, each once a period: by mail and on the dashboard', async () => {
            const person = await newcomer(fixture);
            await call(person, { credits: 799 });
            await watch();
            expect(await noticesFor(person)).to.deep.equal([]);
            await call(person, { credits: 1 });
            await watch();
            await call(person, { credits: 1 });
            await watch();
            expect((await noticesFor(person)).map(({ kind, facts }) => [kind, facts])).to.deep.equal([
                ['allowance_80', { limit: 1_000, left: 200 }],
            ]);
            await call(person, { credits: 199 });
            await watch();
            await watch();
            expect((await noticesFor(person)).map(({ kind }) => kind)).to.deep.equal(['allowance_100']);
            const messages = await mailsFor(person);
            expect(messages.map(({ subject }) => subject)).to.deep.equal([
                'You have used 80% of your allowance',
                'You have used all of your allowance',
            ]);
            expect(messages[0]?.body).to.include('200 credits are left').and.include('/dashboard/billing');
        });

        it('again in the next period, and the old notice disappears', async () => {
            const person = await newcomer(fixture);
            await call(person, { credits: 900 });
            await watch();
            await fixture.world.clock.advance({ days: 32 });
            await fixture.world.app.credits.sweep();
            expect(await noticesFor(person)).to.deep.equal([]);
            await call(person, { credits: 850 });
            await watch();
            expect((await noticesFor(person)).map(({ kind }) => kind)).to.deep.equal(['allowance_80']);
            expect(await mailsFor(person)).to.have.length(2);
        });

        it('not for credits that are only held', async () => {
            const person = await newcomer(fixture);
            await call(person, { credits: 10 });
            const order = { operation: newId('op'), accountId: person.userId, userId: person.userId, workspaceId: person.workspaceId };
            const what = { keyId: 'key_any', site: 'shop.example', endpoint: 'search', versionId: 1, effect: 'read' as const };
            await fixture.world.app.credits.hold({ ...order, ...what, unit: 1, maxUnits: 900, expiresInMs: 60_000 });
            await watch();
            await fixture.world.app.credits.release(order);
            expect(await noticesFor(person)).to.deep.equal([]);
        });

        it('of a workspace: its owners and the account that pays', async () => {
            const person = await newcomer(fixture);
            const payer = await newcomer(fixture);
            const member = await newcomer(fixture);
            for (const [who, role] of [
                [payer, 'billing'],
                [member, 'member'],
            ] as const) {
                await fixture.world.app.db.raw('insert into memberships (workspace_id, user_id, role) values (?, ?, ?)', [
                    ...[person.workspaceId, who.userId, role],
                ]);
            }
            await fixture.subscribe(person, 'starter');
            await call(person, { credits: 14_000, accountId: person.workspaceId });
            await watch();
            expect(await mailsFor(person)).to.have.length(1);
            expect(await mailsFor(payer)).to.have.length(1);
            expect(await mailsFor(member)).to.have.length(0);
            expect((await noticesFor(person)).map(({ kind }) => kind)).to.deep.equal(['allowance_80']);
        });

        it('once, however many processes check', async () => {
            const person = await newcomer(fixture);
            await call(person, { credits: 900 });
            await fixture.world.app.usage.flush();
            await fixture.world.clock.advance({ seconds: 16 });
            await Promise.all(Array.from({ length: 5 }, () => watchSpending(fixture.world.app)));
            expect(await mailsFor(person)).to.have.length(1);
        });
    });

    describe('of calls that all fail:', () => {
        it('when a key’s last fifty calls of one endpoint failed, once', async () => {
            const person = await newcomer(fixture);
            await fail(person, 49);
            await watch();
            expect(await noticesFor(person)).to.deep.equal([]);
            await fail(person, 1);
            await watch();
            await fail(person, 60);
            await watch();
            const [notice, ...more] = await noticesFor(person);
            expect(more).to.deep.equal([]);
            expect(notice?.facts).to.include({
                endpoint: 'search',
                site: 'shop.example',
                calls: 50,
                code: 'UPSTREAM_TIMEOUT',
                keyName: 'default',
            });
            const messages = await mailsFor(person);
            expect(messages.map(({ subject }) => subject)).to.deep.equal(['The last 50 calls of search failed']);
            expect(messages[0]?.body).to.include('None was billed').and.include('/docs/errors#UPSTREAM_TIMEOUT');
        });

        it('not if one of them succeeded, nor if they are of several endpoints', async () => {
            const person = await newcomer(fixture);
            await fail(person, 30);
            await call(person);
            await fail(person, 30);
            await fail(person, 40, 'product');
            await watch();
            expect(await noticesFor(person)).to.deep.equal([]);
        });

        it('until a call succeeds; and again after fifty more', async () => {
            const person = await newcomer(fixture);
            await fail(person, 50);
            await watch();
            await call(person);
            await watch();
            expect(await noticesFor(person)).to.deep.equal([]);
            await fixture.world.clock.advance({ minutes: 5 });
            await fail(person, 50);
            await watch();
            expect(await noticesFor(person)).to.have.length(1);
            expect(await mailsFor(person)).to.have.length(2);
        });

        it('for their own keys; members who manage keys see all notices', async () => {
            const person = await newcomer(fixture);
            const stranger = await newcomer(fixture);
            await fail(person, 50);
            await watch();
            expect(await noticesFor({ ...person, userId: stranger.userId }, { seesKeys: false })).to.deep.equal([]);
            expect(await noticesFor({ ...person, userId: stranger.userId }, { seesKeys: true })).to.have.length(1);
            expect(await noticesFor(stranger)).to.deep.equal([]);
        });
    });

    describe('of their payment', () => {
        it('when it failed, once a billing date, and when the plan ended for that', async () => {
            const person = await newcomer(fixture);
            const { customer } = await fixture.subscribe(person, 'starter');
            fixture.stripe.bank.get(fixture.stripe.bank.customers, customer, 'customer').card = 'declined';
            await fixture.world.clock.advance({ days: 32 });
            await fixture.turn();
            await fixture.turn();
            expect((await noticesFor(person)).map(({ kind }) => kind)).to.deep.equal(['payment_failed']);
            await fixture.world.clock.advance({ days: 7 });
            await fixture.keep();
            expect((await noticesFor(person)).map(({ kind, facts }) => [kind, facts])).to.deep.equal([['plan_ended', { why: 'unpaid' }]]);
            const messages = await mailsFor(person);
            expect(messages).to.have.length(2);
            expect(messages[0]?.subject).to.match(/^Your payment for .* failed$/);
            expect(messages[1]?.body).to.include('because it was not paid within seven days');
            expect(await noticesFor(person, { seesPlans: false })).to.deep.equal([]);
        });

        it('not any more once it succeeded', async () => {
            const person = await newcomer(fixture);
            const { customer, id } = await fixture.subscribe(person, 'starter');
            fixture.stripe.bank.get(fixture.stripe.bank.customers, customer, 'customer').card = 'declined';
            await fixture.world.clock.advance({ days: 32 });
            await fixture.turn();
            fixture.stripe.bank.get(fixture.stripe.bank.customers, customer, 'customer').card = 'good';
            fixture.stripe.bank.retry(id);
            await fixture.stripe.deliver();
            expect(await noticesFor(person)).to.deep.equal([]);
        });
    });
});
