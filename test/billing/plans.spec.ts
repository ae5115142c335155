import { expect } from 'chai';
import { previewUpgrade } from '../../shared/billing/change-plan.ts';
import { returnFromCheckout } from '../../shared/billing/checkout.ts';
import { findSubscription } from '../../shared/store/billing/subscriptions.ts';
import { admin } from '../support/admin.ts';
import type { Person } from '../support/people.ts';
import { newcomer, usePlanWorld } from './billing-world.ts';

describe('a paid plan', () => {
    const fixture = usePlanWorld();

    const spend = async (person: Person, credits: number) => {
        const { app } = fixture.world;
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
    const day = async (person: Person) => (await fixture.planState(person)).resets.slice(5);

    describe('begins', () => {
        it('at once, with a new period in the middle of the month, the complete allowance and the owner’s bonus', async () => {
            const person = await newcomer(fixture, { credits: 70 });
            await spend(person, 300);
            await fixture.world.clock.advance({ days: 11 });
            await fixture.subscribe(person, 'starter');
            expect(await fixture.planState(person)).to.include({ plan: 'starter', limit: 15_000, left: 15_000, bonus: 120 });
            expect(await day(person)).to.equal('06-21');
            expect((await fixture.story(person.userId)).at(-1)).to.equal('move -120');
            expect(await fixture.story(person.workspaceId)).to.deep.equal(['grant +15000', 'move +120']);
        });

        it('when the browser returns before any event; the event then grants nothing more', async () => {
            const person = await newcomer(fixture);
            const sessionId = await fixture.checkout(person, 'pro');
            fixture.stripe.bank.pay(sessionId);
            expect(await returnFromCheckout(fixture.billing, person.workspaceId, sessionId)).to.equal('pro');
            expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 60_000 });
            await spend(person, 1_000);
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 59_000 });
        });

        it('for nobody who returns with another user’s session', async () => {
            const [payer, thief] = [await newcomer(fixture), await newcomer(fixture)];
            const sessionId = await fixture.checkout(payer, 'pro');
            fixture.stripe.bank.pay(sessionId);
            expect(await returnFromCheckout(fixture.billing, thief.workspaceId, sessionId)).to.equal(undefined);
            expect(await fixture.planState(thief)).to.include({ plan: 'free' });
        });

        it('once, however many tabs begin a checkout: the last one can be paid', async () => {
            const person = await newcomer(fixture);
            const first = await fixture.checkout(person, 'starter');
            const second = await fixture.checkout(person, 'pro');
            expect(() => fixture.stripe.bank.pay(first)).to.throw('This session is over.');
            fixture.stripe.bank.pay(second);
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'pro' });
        });

        it('once, when many tabs begin one at the same time', async () => {
            const person = await newcomer(fixture);
            const begun = await Promise.allSettled(Array.from({ length: 8 }, () => fixture.checkout(person, 'starter')));
            const sessions = [...fixture.stripe.bank.sessions.values()].slice(-8);
            expect(sessions.filter(({ status }) => status === 'open').length).to.be.lessThan(2);
            const last = await fixture.checkout(person, 'starter');
            expect(fixture.stripe.bank.sessions.get(last)?.status).to.equal('open');
            expect([...fixture.stripe.bank.sessions.values()].filter(({ id, status }) => status === 'open' && id !== last)).to.deep.equal(
                [],
            );
            expect(
                begun.filter(({ status }) => status === 'rejected').every((one) => 'reason' in one && one.reason.message === 'busy'),
            ).to.equal(true);
        });

        it('and is not sold a second time: another tab learns that it was paid', async () => {
            const person = await newcomer(fixture);
            fixture.stripe.bank.pay(await fixture.checkout(person, 'starter'));
            // No event came yet.
            const problem = await fixture.checkout(person, 'starter').catch((error: Error) => error.message);
            expect(problem).to.equal('subscribed');
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('again for the same customer at Stripe after it ended', async () => {
            const person = await newcomer(fixture);
            const { customer, id } = await fixture.subscribe(person, 'starter');
            fixture.stripe.bank.cancel(fixture.stripe.bank.get(fixture.stripe.bank.subscriptions, id, 'subscription'));
            await fixture.stripe.deliver();
            expect(await fixture.planState(person)).to.include({ plan: 'free' });
            const again = await fixture.subscribe(person, 'pro');
            expect(again.customer).to.equal(customer);
            expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 60_000 });
        });
    });

    describe('continues', () => {
        it('from one month to the next, with a new allowance', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            await spend(person, 4_000);
            await fixture.world.clock.advance({ days: 31 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
            expect(await fixture.story(person.workspaceId)).to.deep.equal([
                'grant +15000',
                'hold -4000',
                'charge 0',
                'first_fetch +50',
                'expire -11000',
                'grant +15000',
            ]);
        });

        it('with the rest of the old allowance for three days past the billing date, until the invoice is paid', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            await spend(person, 4_000);
            await fixture.world.clock.advance({ days: 31, hours: 1 });
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 11_000 });
            await fixture.world.clock.advance({ days: 2, hours: 22 });
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 11_000 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('without an allowance from the third day on, and held credits of the old one expire', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            const { credits } = fixture.world.app;
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
            await fixture.world.clock.advance({ days: 34, hours: 1 });
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 0 });
            await credits.release({ operation: 'op_held_over' });
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 0 });
            expect(await spend(person, 1)).to.equal(false);
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('after a month without events, which is noticed within hours', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            await fixture.world.clock.advance({ days: 31, hours: 1 });
            await fixture.turn({ silently: true });
            await fixture.keep();
            expect(await fixture.planState(person)).to.include({ plan: 'starter' });
            await fixture.world.clock.advance({ hours: 7 });
            await fixture.keep();
            expect(await day(person)).to.equal('07-10');
        });

        it('with the limits that an operator set beside it', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            await fixture.world.app.db.raw('update credit_accounts set allowance_override = 20000, per_minute = 7 where id = ?', [
                person.workspaceId,
            ]);
            await fixture.world.clock.advance({ days: 31 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', limit: 20_000, left: 20_000 });
        });
    });

    describe('changes', () => {
        it('up at once: a new period begins, and the unused part of the old month is credited', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            await spend(person, 9_000);
            await fixture.world.clock.advance({ days: 15, hours: 12 });
            const subscription = await findSubscription(fixture.world.app.db, person.workspaceId);
            if (subscription === undefined) throw new Error('somebody subscribed');
            expect(await previewUpgrade(fixture.billing, subscription, 'pro')).to.deep.equal({
                amountCents: 14_900 - 2_450,
                currency: 'usd',
            });
            expect(await fixture.choose(person, 'pro')).to.deep.equal({ ok: true });
            expect(await fixture.planState(person)).to.include({ plan: 'pro', limit: 60_000, left: 60_000 });
            expect(await day(person)).to.equal('06-26');
        });

        it('up once, by two clicks', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            await fixture.world.clock.advance({ days: 3 });
            await Promise.all([fixture.choose(person, 'pro'), fixture.choose(person, 'pro')]);
            const invoices = [...fixture.stripe.bank.invoices.values()].filter(({ reason }) => reason === 'subscription_update');
            expect(invoices.slice(-2).filter(({ created }) => created > fixture.world.app.clock.now() / 1000 - 60)).to.have.length(1);
            expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 60_000 });
        });

        for (const card of ['declined', 'asks for more'] as const) {
            it(`not at all, if the card ${card === 'declined' ? 'is declined' : 'asks for more'}; and as soon as it is paid`, async () => {
                const person = await newcomer(fixture);
                const { customer, id } = await fixture.subscribe(person, 'starter');
                fixture.stripe.bank.get(fixture.stripe.bank.customers, customer, 'customer').card = card;
                const changed = await fixture.choose(person, 'pro');
                expect(changed).to.deep.include({ ok: false });
                expect('payAt' in changed && changed.payAt).to.match(/\/i\/in_/);
                expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
                fixture.stripe.bank.get(fixture.stripe.bank.customers, customer, 'customer').card = 'good';
                fixture.stripe.bank.retry(id);
                await fixture.stripe.deliver();
                expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 60_000 });
            });
        }

        it('down at the end of the paid month', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'pro');
            await fixture.choose(person, 'starter');
            expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 60_000 });
            await fixture.world.clock.advance({ days: 30 });
            expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 60_000 });
            await fixture.world.clock.advance({ days: 1 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', limit: 15_000, left: 15_000 });
        });

        it('down and back again before the month ends, without effect', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'pro');
            await fixture.choose(person, 'starter');
            await fixture.choose(person, 'pro');
            await fixture.world.clock.advance({ days: 31 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 60_000 });
            expect(await fixture.story(person.workspaceId)).to.deep.equal(['grant +60000', 'expire -60000', 'grant +60000']);
        });

        it('to Free at the end of the paid month, and the bonus returns to the owner', async () => {
            const person = await newcomer(fixture, { credits: 30 });
            await fixture.subscribe(person, 'starter');
            await fixture.choose(person, 'free');
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000, bonus: 30 });
            await fixture.world.clock.advance({ days: 31 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'free', limit: 1_000, left: 1_000, bonus: 30 });
            expect((await fixture.story(person.workspaceId)).slice(-2)).to.deep.equal(['expire -15000', 'move -30']);
        });

        it('not to Free if that was cancelled', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            await fixture.choose(person, 'free');
            await fixture.choose(person, 'starter');
            await fixture.world.clock.advance({ days: 31 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'starter', left: 15_000 });
        });

        it('up from a month that was to be the last one', async () => {
            const person = await newcomer(fixture);
            await fixture.subscribe(person, 'starter');
            await fixture.choose(person, 'free');
            await fixture.choose(person, 'pro');
            await fixture.world.clock.advance({ days: 31 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include({ plan: 'pro', left: 60_000 });
        });
    });

    it('is not changed by an operator before it has ended, except for its limits', async () => {
        const person = await newcomer(fixture);
        const { id } = await fixture.subscribe(person, 'starter');
        const planSet = async (...args: string[]) => {
            const { code, out } = await admin(fixture.world.databaseUrl, ['plan', 'set', person.workspaceId, ...args, '--json']);
            return { code, said: out.at(-1) ?? '' };
        };
        const refused = await planSet('enterprise');
        expect(refused.code).to.equal(1);
        expect(refused.said).to.include('cancel the subscription there first');
        expect((await planSet('starter', '--allowance', '20000')).code).to.equal(0);
        expect(await fixture.planState(person)).to.include({ plan: 'starter', limit: 20_000 });
        fixture.stripe.bank.cancel(fixture.stripe.bank.get(fixture.stripe.bank.subscriptions, id, 'subscription'));
        await fixture.stripe.deliver();
        expect((await planSet('enterprise')).code).to.equal(0);
        expect(await fixture.planState(person)).to.include({ plan: 'enterprise', left: 60_000 });
        // Later events of the old subscription change nothing.
        expect(await day(person)).to.equal('06-10');
    });
});
