import { expect } from 'chai';
import { endSubscriptions } from '../../api/dashboard/account/end-subscriptions.ts';
import { runAdmin } from '../../bin/admin/run-admin.ts';
import { previewUpgrade } from '../../shared/billing/change-plan.ts';
import { closeCheckout, returnFromCheckout } from '../../shared/billing/checkout.ts';
import { deleteAccount, workspacesLeft } from '../../shared/store/accounts/delete-account.ts';
import { findSubscription } from '../../shared/store/billing/subscriptions.ts';
import type { Person } from '../support/people.ts';
import { newcomer, openTill, type Till } from './till.ts';

describe('a plan that is paid for', function () {
    this.timeout(60_000);
    let till: Till;
    before(async () => {
        till = await openTill();
    });
    beforeEach(async () => {
        till.stripe.bank.subscriptions.clear();
        const { rows } = await till.world.app.db.raw<{ rows: [{ now: Date }] }>('select app_now() as now');
        const next = new Date(Date.UTC(rows[0].now.getUTCFullYear() + 1, 4, 10, 12));
        await till.setTime(next.toISOString());
    });
    afterEach(() => {
        till.stripe.fail(undefined);
        till.stripe.waiting.length = 0;
    });
    after(() => till.close());

    const spend = async (person: Person, credits: number) => {
        const { app } = till.world;
        const workspace = person.workspaceId;
        const { rows } = await app.db.raw<{ rows: { plan: string }[] }>('select plan from workspaces where id = ?', [workspace]);
        const operation = `op_${Math.random().toString(36).slice(2)}`;
        const held = await app.credits.hold({
            ...{ operation, accountId: rows[0]?.plan === 'free' ? person.userId : workspace, userId: person.userId },
            ...{ workspaceId: workspace, keyId: 'key_any', site: 'shop.example', endpoint: 'search', versionId: 1, effect: 'read' },
            ...{ unit: 1, maxUnits: credits, expiresInMs: 30_000 },
        });
        if (!held.ok) return false;
        await app.credits.charge({ operation, amount: held.amount });
        return true;
    };
    /** Days and months count from May 10 of some year. */
    const day = async (person: Person) => (await till.standing(person)).resets.slice(5);
    const cancelled = () => [...till.stripe.bank.subscriptions.values()].filter(({ status }) => status === 'canceled').length;

    describe('begins', () => {
        it('at once, with a new period in the middle of the month, the whole allowance and the owner’s bonus', async () => {
            const person = await newcomer(till, { credits: 70 });
            await spend(person, 300);
            await till.world.clock.advance({ days: 11 });
            await till.subscribe(person, 'starter');
            expect(await till.standing(person)).to.include({ plan: 'starter', limit: 15_000, left: 15_000, bonus: 120 });
            expect(await day(person)).to.equal('06-21');
            expect((await till.story(person.userId)).at(-1)).to.equal('move -120');
            expect(await till.story(person.workspaceId)).to.deep.equal(['grant +15000', 'move +120']);
        });

        it('when the browser comes back, though no event came yet; and the event then grants nothing more', async () => {
            const person = await newcomer(till);
            const sessionId = await till.checkout(person, 'pro');
            till.stripe.bank.pay(sessionId);
            expect(await returnFromCheckout(till.billing, person.workspaceId, sessionId)).to.equal('pro');
            expect(await till.standing(person)).to.include({ plan: 'pro', left: 60_000 });
            await spend(person, 1_000);
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'pro', left: 59_000 });
        });

        it('for nobody who comes back with somebody else’s session', async () => {
            const [payer, thief] = [await newcomer(till), await newcomer(till)];
            const sessionId = await till.checkout(payer, 'pro');
            till.stripe.bank.pay(sessionId);
            expect(await returnFromCheckout(till.billing, thief.workspaceId, sessionId)).to.equal(undefined);
            expect(await till.standing(thief)).to.include({ plan: 'free' });
        });

        it('once, however many tabs begin a checkout: the last one can be paid', async () => {
            const person = await newcomer(till);
            const first = await till.checkout(person, 'starter');
            const second = await till.checkout(person, 'pro');
            expect(() => till.stripe.bank.pay(first)).to.throw('This session is over.');
            till.stripe.bank.pay(second);
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'pro' });
        });

        it('once, when many tabs begin one at the same time', async () => {
            const person = await newcomer(till);
            const begun = await Promise.allSettled(Array.from({ length: 8 }, () => till.checkout(person, 'starter')));
            const sessions = [...till.stripe.bank.sessions.values()].slice(-8);
            expect(sessions.filter(({ status }) => status === 'open').length).to.be.lessThan(2);
            const last = await till.checkout(person, 'starter');
            expect(till.stripe.bank.sessions.get(last)?.status).to.equal('open');
            expect([...till.stripe.bank.sessions.values()].filter(({ id, status }) => status === 'open' && id !== last)).to.deep.equal([]);
            expect(
                begun.filter(({ status }) => status === 'rejected').every((one) => 'reason' in one && one.reason.message === 'busy'),
            ).to.equal(true);
        });

        it('and is not sold a second time: another tab learns that it was paid', async () => {
            const person = await newcomer(till);
            till.stripe.bank.pay(await till.checkout(person, 'starter'));
            // No event came yet.
            const problem = await till.checkout(person, 'starter').catch((error: Error) => error.message);
            expect(problem).to.equal('subscribed');
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('again for the customer that Stripe knows, after it ended', async () => {
            const person = await newcomer(till);
            const { customer, id } = await till.subscribe(person, 'starter');
            till.stripe.bank.cancel(till.stripe.bank.get(till.stripe.bank.subscriptions, id, 'subscription'));
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'free' });
            const again = await till.subscribe(person, 'pro');
            expect(again.customer).to.equal(customer);
            expect(await till.standing(person)).to.include({ plan: 'pro', left: 60_000 });
        });
    });

    describe('goes on', () => {
        it('from one month to the next, the allowance anew', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            await spend(person, 4_000);
            await till.world.clock.advance({ days: 31 });
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
            expect(await till.story(person.workspaceId)).to.deep.equal([
                'grant +15000',
                'hold -4000',
                'charge 0',
                'first_fetch +50',
                'expire -11000',
                'grant +15000',
            ]);
        });

        it('with what is left of the old allowance for three days past the billing date, until the invoice is paid', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            await spend(person, 4_000);
            await till.world.clock.advance({ days: 31, hours: 1 });
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 11_000 });
            await till.world.clock.advance({ days: 2, hours: 22 });
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 11_000 });
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('without an allowance from the third day on, and held credits of the old one lapse', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            const { credits } = till.world.app;
            const order = {
                operation: 'op_held_over',
                accountId: person.workspaceId,
                userId: person.userId,
                workspaceId: person.workspaceId,
            };
            await credits.hold({
                ...{ ...order, keyId: 'key_any', site: 'shop.example', endpoint: 'search', versionId: 1, effect: 'read' },
                ...{ unit: 1, maxUnits: 500, expiresInMs: 30_000 },
            });
            await till.world.clock.advance({ days: 34, hours: 1 });
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 0 });
            await credits.release({ operation: 'op_held_over' });
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 0 });
            expect(await spend(person, 1)).to.equal(false);
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('with a month that Stripe told nobody of: it is found within hours', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            await till.world.clock.advance({ days: 31, hours: 1 });
            await till.turn({ silently: true });
            await till.keep();
            expect(await till.standing(person)).to.include({ plan: 'starter' });
            await till.world.clock.advance({ hours: 7 });
            await till.keep();
            expect(await day(person)).to.equal('07-10');
        });

        it('with the limits that an operator set beside it', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            await till.world.app.db.raw('update credit_accounts set allowance_override = 20000, per_minute = 7 where id = ?', [
                person.workspaceId,
            ]);
            await till.world.clock.advance({ days: 31 });
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'starter', limit: 20_000, left: 20_000 });
        });
    });

    describe('changes', () => {
        it('up at once: a new period begins, and what was not used of the old month is credited', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            await spend(person, 9_000);
            await till.world.clock.advance({ days: 15, hours: 12 });
            const subscription = await findSubscription(till.world.app.db, person.workspaceId);
            if (subscription === undefined) throw new Error('somebody subscribed');
            expect(await previewUpgrade(till.billing, subscription, 'pro')).to.deep.equal({ amountCents: 14_900 - 2_450, currency: 'usd' });
            expect(await till.choose(person, 'pro')).to.deep.equal({ ok: true });
            expect(await till.standing(person)).to.include({ plan: 'pro', limit: 60_000, left: 60_000 });
            expect(await day(person)).to.equal('06-26');
        });

        it('up once, by two clicks', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            await till.world.clock.advance({ days: 3 });
            await Promise.all([till.choose(person, 'pro'), till.choose(person, 'pro')]);
            const invoices = [...till.stripe.bank.invoices.values()].filter(({ reason }) => reason === 'subscription_update');
            expect(invoices.slice(-2).filter(({ created }) => created > till.world.app.clock.now() / 1000 - 60)).to.have.length(1);
            expect(await till.standing(person)).to.include({ plan: 'pro', left: 60_000 });
        });

        for (const card of ['declined', 'asks for more'] as const) {
            it(`not at all, where the card ${card === 'declined' ? 'is declined' : 'asks for more'}; and as soon as it is paid`, async () => {
                const person = await newcomer(till);
                const { customer, id } = await till.subscribe(person, 'starter');
                till.stripe.bank.get(till.stripe.bank.customers, customer, 'customer').card = card;
                const changed = await till.choose(person, 'pro');
                expect(changed).to.deep.include({ ok: false });
                expect('payAt' in changed && changed.payAt).to.match(/\/i\/in_/);
                expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
                till.stripe.bank.get(till.stripe.bank.customers, customer, 'customer').card = 'good';
                till.stripe.bank.retry(id);
                await till.stripe.deliver();
                expect(await till.standing(person)).to.include({ plan: 'pro', left: 60_000 });
            });
        }

        it('down when the month that was paid for ends', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'pro');
            await till.choose(person, 'starter');
            expect(await till.standing(person)).to.include({ plan: 'pro', left: 60_000 });
            await till.world.clock.advance({ days: 30 });
            expect(await till.standing(person)).to.include({ plan: 'pro', left: 60_000 });
            await till.world.clock.advance({ days: 1 });
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'starter', limit: 15_000, left: 15_000 });
        });

        it('down and back again before the month ends: nothing happened', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'pro');
            await till.choose(person, 'starter');
            await till.choose(person, 'pro');
            await till.world.clock.advance({ days: 31 });
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'pro', left: 60_000 });
            expect(await till.story(person.workspaceId)).to.deep.equal(['grant +60000', 'expire -60000', 'grant +60000']);
        });

        it('to Free when the month that was paid for ends, and the bonus goes back to the owner', async () => {
            const person = await newcomer(till, { credits: 30 });
            await till.subscribe(person, 'starter');
            await till.choose(person, 'free');
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000, bonus: 30 });
            await till.world.clock.advance({ days: 31 });
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'free', limit: 1_000, left: 1_000, bonus: 30 });
            expect((await till.story(person.workspaceId)).slice(-2)).to.deep.equal(['expire -15000', 'move -30']);
        });

        it('not to Free, where that was taken back', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            await till.choose(person, 'free');
            await till.choose(person, 'starter');
            await till.world.clock.advance({ days: 31 });
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('up from a month that was to be the last one', async () => {
            const person = await newcomer(till);
            await till.subscribe(person, 'starter');
            await till.choose(person, 'free');
            await till.choose(person, 'pro');
            await till.world.clock.advance({ days: 31 });
            await till.turn();
            expect(await till.standing(person)).to.include({ plan: 'pro', left: 60_000 });
        });
    });

    describe('whose payment fails', () => {
        async function unpaid(): Promise<{ person: Person; id: string; customer: string }> {
            const person = await newcomer(till);
            const { customer, id } = await till.subscribe(person, 'starter');
            till.stripe.bank.get(till.stripe.bank.customers, customer, 'customer').card = 'declined';
            await till.world.clock.advance({ days: 31 });
            await till.turn();
            return { person, id, customer };
        }

        it('stays for seven days, then Free, and nothing more is billed', async () => {
            const { person, id } = await unpaid();
            await till.world.clock.advance({ days: 6, hours: 23 });
            await till.keep();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 0 });
            await till.world.clock.advance({ hours: 1, minutes: 2 });
            await till.keep();
            expect(await till.standing(person)).to.include({ plan: 'free', left: 1_000 });
            expect(till.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
        });

        it('goes on as soon as it is paid', async () => {
            const { person, id, customer } = await unpaid();
            await till.world.clock.advance({ days: 5 });
            till.stripe.bank.get(till.stripe.bank.customers, customer, 'customer').card = 'good';
            till.stripe.bank.retry(id);
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
            await till.world.clock.advance({ days: 3 });
            await till.keep();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('ends also where Stripe does not answer for a while, as soon as it does', async () => {
            const { person, id } = await unpaid();
            await till.world.clock.advance({ days: 7, minutes: 1 });
            till.stripe.fail(500);
            await till.keep();
            till.stripe.fail(undefined);
            await till.world.clock.advance({ minutes: 2 });
            await till.keep();
            expect(await till.standing(person)).to.include({ plan: 'free' });
            expect(till.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
        });

        it('ends when Stripe gives it up before that', async () => {
            const { person, id } = await unpaid();
            till.stripe.bank.cancel(till.stripe.bank.get(till.stripe.bank.subscriptions, id, 'subscription'));
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'free' });
        });
    });

    describe('whose money goes back', () => {
        async function subscribed(): Promise<{ person: Person; id: string; invoice: string }> {
            const person = await newcomer(till);
            const { id } = await till.subscribe(person, 'starter');
            return { person, id, invoice: till.stripe.bank.subscriptions.get(id)?.latestInvoice ?? '' };
        }

        for (const how of ['refund', 'dispute'] as const) {
            it(`by ${how} ends at once, and nothing more is billed`, async () => {
                const { person, id, invoice } = await subscribed();
                till.stripe.bank[how](invoice);
                await till.stripe.deliver();
                expect(await till.standing(person)).to.include({ plan: 'free', left: 1_000 });
                expect(till.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
                expect((await till.story(person.workspaceId)).at(-1)).to.equal('expire -15000');
            });
        }

        it('in part stays', async () => {
            const { person, invoice } = await subscribed();
            till.stripe.bank.refund(invoice, 1_000);
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
            till.stripe.bank.refund(invoice, 3_900);
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'free' });
        });

        it('for a month that is over stays, by refund; and ends, by dispute', async () => {
            const { person, invoice } = await subscribed();
            await till.world.clock.advance({ days: 31 });
            await till.turn();
            till.stripe.bank.refund(invoice);
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'starter', left: 15_000 });
            till.stripe.bank.dispute(invoice);
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'free' });
        });

        it('before we heard that it came never begins', async () => {
            const person = await newcomer(till);
            const { latestInvoice } = till.stripe.bank.pay(await till.checkout(person, 'starter'));
            till.stripe.bank.refund(latestInvoice ?? '');
            const events = till.stripe.waiting.splice(0);
            for (const event of events.toReversed()) expect(await till.stripe.send(event), event.type).to.equal(200);
            await till.stripe.deliver();
            expect(await till.standing(person)).to.include({ plan: 'free', left: 1_000 });
            expect(await till.story(person.workspaceId)).to.deep.equal([]);
            expect(cancelled()).to.equal(1);
        });

        it('ends though Stripe cannot be told at once, and it is told later', async () => {
            const { person, id, invoice } = await subscribed();
            till.stripe.bank.refund(invoice);
            const [event] = till.stripe.waiting.splice(0);
            if (event === undefined) throw new Error('a refund is told of');
            till.stripe.beforeAnswer(({ path }) => {
                if (path.startsWith('/v1/invoice_payments')) till.stripe.fail(503);
            });
            expect(await till.stripe.send(event)).to.equal(503);
            expect(await till.standing(person)).to.include({ plan: 'free' });
            expect(till.stripe.bank.subscriptions.get(id)?.status).to.equal('active');
            till.stripe.beforeAnswer(undefined);
            till.stripe.fail(undefined);
            await till.world.clock.advance({ minutes: 2 });
            await till.keep();
            expect(till.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
            expect(await till.standing(person)).to.include({ plan: 'free' });
        });
    });

    it('is not changed by an operator before it has ended, apart from its limits', async () => {
        const person = await newcomer(till);
        const { id } = await till.subscribe(person, 'starter');
        const planSet = async (...args: string[]) => {
            const lines: string[] = [];
            const terminal = { print: (line: string) => void lines.push(line), complain: () => {} };
            const code = await runAdmin(['plan', 'set', person.workspaceId, ...args, '--json'], terminal, {
                DATABASE_URL: till.world.databaseUrl,
            });
            return { code, said: lines.at(-1) ?? '' };
        };
        const refused = await planSet('enterprise');
        expect(refused.code).to.equal(1);
        expect(refused.said).to.include('cancel the subscription there first');
        expect((await planSet('starter', '--allowance', '20000')).code).to.equal(0);
        expect(await till.standing(person)).to.include({ plan: 'starter', limit: 20_000 });
        till.stripe.bank.cancel(till.stripe.bank.get(till.stripe.bank.subscriptions, id, 'subscription'));
        await till.stripe.deliver();
        expect((await planSet('enterprise')).code).to.equal(0);
        expect(await till.standing(person)).to.include({ plan: 'enterprise', left: 60_000 });
        // What Stripe says later of the old subscription changes nothing.
        expect(await day(person)).to.equal('06-10');
    });

    describe('of somebody who deletes the account', () => {
        it('ends at Stripe first, and what is open in another tab can no longer be paid', async () => {
            const person = await newcomer(till);
            const { id } = await till.subscribe(person, 'starter');
            await endSubscriptions(till.world.app, await workspacesLeft(till.world.app.db, person.userId));
            expect(till.stripe.bank.subscriptions.get(id)?.status).to.equal('canceled');
            const session = await till.checkout(person, 'pro');
            await closeCheckout(till.billing, person.workspaceId);
            expect(() => till.stripe.bank.pay(session)).to.throw();
            expect(await deleteAccount(till.world.app.db, person.userId)).to.equal(true);
            await till.stripe.deliver();
        });

        it('stays, account and all, where Stripe cannot be told', async () => {
            const person = await newcomer(till);
            const { id } = await till.subscribe(person, 'starter');
            till.stripe.fail(500);
            const left = await workspacesLeft(till.world.app.db, person.userId);
            const problem = await endSubscriptions(till.world.app, left).catch((error: { code: string }) => error.code);
            expect(problem).to.equal('SERVICE_UNAVAILABLE');
            expect(till.stripe.bank.subscriptions.get(id)?.status).to.equal('active');
        });

        it('is cancelled where it was paid in that very moment', async () => {
            const person = await newcomer(till);
            till.stripe.bank.pay(await till.checkout(person, 'starter'));
            expect(await deleteAccount(till.world.app.db, person.userId)).to.equal(true);
            await till.stripe.deliver();
            expect(cancelled()).to.equal(1);
        });
    });
});
