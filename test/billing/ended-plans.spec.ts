import { expect } from 'chai';
import { endSubscriptions } from '../../api/dashboard/account/settings.ts';
import { closeCheckout } from '../../shared/billing/checkout.ts';
import { deleteAccount, workspacesLeft } from '../../shared/store/accounts/delete-account.ts';
import { addMember, removeMember } from '../../shared/store/accounts/workspaces.ts';
import type { Person } from '../support/people.ts';
import { newcomer, usePlanWorld } from './billing-world.ts';

describe('a paid plan', () => {
    const fixture = usePlanWorld();
    const cancelled = () => [...fixture.stripe.bank.subscriptions.values()].filter(({ status }) => status === 'canceled').length;

    describe('whose payment fails', () => {
        async function unpaid(): Promise<{ person: Person; id: string; customer: string }> {
            const person = await newcomer(fixture);
            const { customer, id } = await fixture.subscribe(person, 'starter');
            fixture.stripe.bank.get(fixture.stripe.bank.customers, customer, 'customer').card = 'declined';
            await fixture.world.clock.advance({ days: 31 });
            await fixture.turn();
            return { person, id, customer };
        }

        it('remains for seven days, then Free, and nothing more is billed', async () => {
            const { person, id } = await unpaid();
            await fixture.world.clock.advance({ days: 6, hours: 23 });
            await fixture.keep();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 0 });
            await fixture.world.clock.advance({ hours: 1, minutes: 2 });
            await fixture.keep();
            expect(await fixture.planState(person)).to.include({ plan: 'free', left: 1_000 });
            expect(fixture.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
        });

        it('continues as soon as it is paid', async () => {
            const { person, id, customer } = await unpaid();
            await fixture.world.clock.advance({ days: 5 });
            fixture.stripe.bank.get(fixture.stripe.bank.customers, customer, 'customer').card = 'good';
            fixture.stripe.bank.retry(id);
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
            await fixture.world.clock.advance({ days: 3 });
            await fixture.keep();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('ends also if Stripe is down for a while, as soon as it is up', async () => {
            const { person, id } = await unpaid();
            await fixture.world.clock.advance({ days: 7, minutes: 1 });
            fixture.stripe.fail(500);
            await fixture.keep();
            fixture.stripe.fail(undefined);
            await fixture.world.clock.advance({ minutes: 2 });
            await fixture.keep();
            expect(await fixture.planState(person)).to.include({ plan: 'free' });
            expect(fixture.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
        });

        it('ends earlier if Stripe gives up', async () => {
            const { person, id } = await unpaid();
            fixture.stripe.bank.cancel(fixture.stripe.bank.get(fixture.stripe.bank.subscriptions, id, 'subscription'));
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'free' });
        });
    });

    describe('with a refunded or disputed payment', () => {
        async function subscribed(): Promise<{ person: Person; id: string; invoice: string }> {
            const person = await newcomer(fixture);
            const { id } = await fixture.subscribe(person, 'starter');
            return { person, id, invoice: fixture.stripe.bank.subscriptions.get(id)?.latestInvoice ?? '' };
        }

        for (const how of ['refund', 'dispute'] as const) {
            it(`by ${how} ends at once, and nothing more is billed`, async () => {
                const { person, id, invoice } = await subscribed();
                fixture.stripe.bank[how](invoice);
                await fixture.stripe.deliver();
                expect(await fixture.planState(person)).to.include({ plan: 'free', left: 1_000 });
                expect(fixture.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
                expect((await fixture.story(person.workspaceId)).at(-1)).to.equal('expire -15000');
            });
        }

        it('in part remains', async () => {
            const { person, invoice } = await subscribed();
            fixture.stripe.bank.refund(invoice, 1_000);
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
            fixture.stripe.bank.refund(invoice, 3_900);
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'free' });
        });

        it('of a past month remains after a refund, and ends after a dispute', async () => {
            const { person, invoice } = await subscribed();
            await fixture.world.clock.advance({ days: 31 });
            await fixture.turn();
            fixture.stripe.bank.refund(invoice);
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
            fixture.stripe.bank.dispute(invoice);
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'free' });
        });

        it('before we know of the payment never begins', async () => {
            const person = await newcomer(fixture);
            const { latestInvoice } = fixture.stripe.bank.pay(await fixture.checkout(person, 'starter'));
            fixture.stripe.bank.refund(latestInvoice ?? '');
            const events = fixture.stripe.waiting.splice(0);
            for (const event of events.toReversed()) expect(await fixture.stripe.send(event), event.type).to.equal(200);
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'free', left: 1_000 });
            expect(await fixture.story(person.workspaceId)).to.deep.equal([]);
            expect(cancelled()).to.equal(1);
        });

        it('ends even if Stripe is down, which is told later', async () => {
            const { person, id, invoice } = await subscribed();
            fixture.stripe.bank.refund(invoice);
            const [event] = fixture.stripe.waiting.splice(0);
            if (event === undefined) throw new Error('a refund is told of');
            fixture.stripe.beforeAnswer(({ path }) => {
                if (path.startsWith('/v1/invoice_payments')) fixture.stripe.fail(503);
            });
            expect(await fixture.stripe.send(event)).to.equal(503);
            expect(await fixture.planState(person)).to.include({ plan: 'free' });
            expect(fixture.stripe.bank.subscriptions.get(id)?.status).to.equal('active');
            fixture.stripe.beforeAnswer(undefined);
            fixture.stripe.fail(undefined);
            await fixture.world.clock.advance({ minutes: 2 });
            await fixture.keep();
            expect(fixture.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
            expect(await fixture.planState(person)).to.include({ plan: 'free' });
        });
    });

    describe('of a user who deletes the account', () => {
        it('ends at Stripe first, and an open checkout can no longer be paid', async () => {
            const person = await newcomer(fixture);
            const { id } = await fixture.subscribe(person, 'starter');
            await endSubscriptions(fixture.world.app, await workspacesLeft(fixture.world.app.db, person.userId));
            expect(fixture.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
            const session = await fixture.checkout(person, 'pro');
            await closeCheckout(fixture.billing, person.workspaceId);
            expect(() => fixture.stripe.bank.pay(session)).to.throw();
            expect(await deleteAccount(fixture.world.app.db, person.userId)).to.equal(true);
            await fixture.stripe.deliver();
        });

        it('remains, with the account, if Stripe is down', async () => {
            const person = await newcomer(fixture);
            const { id } = await fixture.subscribe(person, 'starter');
            fixture.stripe.fail(500);
            const left = await workspacesLeft(fixture.world.app.db, person.userId);
            const problem = await endSubscriptions(fixture.world.app, left).catch((error: { code: string }) => error.code);
            expect(problem).to.equal('SERVICE_UNAVAILABLE');
            expect(fixture.stripe.bank.subscriptions.get(id)?.status).to.equal('active');
        });

        it('ends at Stripe, even if the last other member leaves at that moment', async () => {
            const { app } = fixture.world;
            const [person, colleague] = [await newcomer(fixture), await newcomer(fixture)];
            const { id } = await fixture.subscribe(person, 'starter');
            const { workspaceId } = person;
            await addMember(app.db, { workspaceId, userId: colleague.userId, role: 'owner' });
            const before = await workspacesLeft(app.db, person.userId);
            await removeMember(app.db, { workspaceId, userId: colleague.userId, by: colleague.userId });
            await endSubscriptions(app, before);
            expect(await deleteAccount(app.db, person.userId)).to.equal(false);
            await endSubscriptions(app, await workspacesLeft(app.db, person.userId));
            expect(fixture.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
            expect(await deleteAccount(app.db, person.userId)).to.equal(true);
        });

        it('is cancelled if it was paid at that moment', async () => {
            const person = await newcomer(fixture);
            fixture.stripe.bank.pay(await fixture.checkout(person, 'starter'));
            expect(await deleteAccount(fixture.world.app.db, person.userId)).to.equal(true);
            await fixture.stripe.deliver();
            expect(cancelled()).to.equal(1);
        });
    });
});
