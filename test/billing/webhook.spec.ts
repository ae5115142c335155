import { expect } from 'chai';
import type { Person } from '../support/people.ts';
import type { StripeEvent } from '../support/stripe-server.ts';
import { openWorld } from '../support/world.ts';
import { newcomer, useBillingWorld } from './billing-world.ts';

const FREE = { plan: 'free', limit: 1_000, left: 1_000 };
const STARTER = { plan: 'starter', limit: 15_000, left: 15_000 };

describe('a Stripe event', () => {
    const fixture = useBillingWorld();
    afterEach(() => {
        fixture.stripe.fail(undefined);
        fixture.stripe.beforeAnswer(undefined);
        fixture.stripe.waiting.length = 0;
    });

    /** Pays, and returns Stripe's events about it. */
    async function paid(): Promise<{ person: Person; events: StripeEvent[]; named(type: string): StripeEvent }> {
        const person = await newcomer(fixture);
        fixture.stripe.bank.pay(await fixture.checkout(person, 'starter'));
        const events = fixture.stripe.waiting.splice(0);
        const named = (type: string) => {
            const event = events.find((one) => one.type === type);
            if (event === undefined) throw new Error(`no ${type} among ${events.map((one) => one.type).join(', ')}`);
            return event;
        };
        return { person, events, named };
    }

    async function grants(person: Person): Promise<number> {
        return (await fixture.story(person.workspaceId)).filter((entry) => entry.startsWith('grant')).length;
    }

    describe('is accepted only with our signature:', () => {
        for (const [what, delivery] of [
            ['another secret', { secret: 'whsec_of_somebody_else' }],
            ['a signature of ten minutes ago', { timestamp: 0 }],
            ['another body than the one that was signed', { payload: '{"id":"evt_1","object":"event","type":"invoice.paid"}' }],
        ] as const) {
            it(`${what} is refused, and changes nothing`, async () => {
                const { person, named } = await paid();
                const old = Math.floor(fixture.world.app.clock.now() / 1000) - 600;
                const sent = 'timestamp' in delivery ? { timestamp: old } : delivery;
                expect(await fixture.stripe.send(named('invoice.paid'), sent)).to.equal(400);
                expect(await fixture.planState(person)).to.include(FREE);
            });
        }

        it('without any, the error has the usual envelope', async () => {
            const answer = await fetch(`${fixture.world.base}/webhooks/stripe`, { method: 'POST', body: '{}' });
            expect(answer.status).to.equal(400);
            const body = (await answer.json()) as { success: boolean; error: { code: string } };
            expect(body).to.deep.include({ success: false });
            expect(body.error).to.include({
                code: 'VALIDATION_ERROR',
                message: 'The Stripe-Signature header does not match this body, or is too old.',
            });
        });

        it('an endless body is cut off', async () => {
            const answer = await fetch(`${fixture.world.base}/webhooks/stripe`, { method: 'POST', body: 'x'.repeat(600 * 1024) });
            expect(answer.status).to.equal(413);
        });
    });

    describe('grants an allowance once:', () => {
        it('by invoice.paid, with the plan and its limits', async () => {
            const { person, named } = await paid();
            expect(await fixture.stripe.send(named('invoice.paid'))).to.equal(200);
            expect(await fixture.planState(person)).to.include(STARTER);
            expect(await fixture.story(person.workspaceId)).to.deep.equal(['grant +15000']);
        });

        it('by no other event, whatever its content', async () => {
            const { person, events } = await paid();
            for (const event of events)
                if (event.type !== 'invoice.paid') expect(await fixture.stripe.send(event), event.type).to.equal(200);
            expect(await fixture.planState(person)).to.include(FREE);
        });

        it('however often it is delivered', async () => {
            const { person, named } = await paid();
            for (let times = 0; times < 3; times++) expect(await fixture.stripe.send(named('invoice.paid'))).to.equal(200);
            expect(await grants(person)).to.equal(1);
        });

        it('also if another event is about the same invoice', async () => {
            const { person, named } = await paid();
            const event = named('invoice.paid');
            const again = { ...event, id: 'evt_again', payload: event.payload.replace(event.id, 'evt_again') };
            expect(await fixture.stripe.send(event)).to.equal(200);
            expect(await fixture.stripe.send(again)).to.equal(200);
            expect(await grants(person)).to.equal(1);
        });

        it('in whatever order events come', async () => {
            const orders = [
                (events: StripeEvent[]) => events.toReversed(),
                (events: StripeEvent[]) => events.toSorted((one, other) => one.type.localeCompare(other.type)),
                (events: StripeEvent[]) => [...events, ...events.toReversed()],
            ];
            for (const order of orders) {
                const { person, events } = await paid();
                for (const event of order(events)) expect(await fixture.stripe.send(event), event.type).to.equal(200);
                expect(await fixture.planState(person)).to.include(STARTER);
                expect(await grants(person)).to.equal(1);
            }
        });

        it('by two APIs at once, each event to both', async () => {
            const { base } = await fixture.world.openAnotherApi();
            const { person, events } = await paid();
            const sent = events.flatMap((event) => [fixture.stripe.send(event), fixture.stripe.send(event, { base })]);
            expect(new Set(await Promise.all(sent))).to.deep.equal(new Set([200]));
            expect(await fixture.planState(person)).to.include(STARTER);
            expect(await grants(person)).to.equal(1);
        });

        it('not again by a late invoice of an earlier month', async () => {
            const { person, events, named } = await paid();
            for (const event of events) if (event.type !== 'invoice.paid') await fixture.stripe.send(event);
            await fixture.world.clock.advance({ days: 32 });
            await fixture.turn();
            expect(await fixture.planState(person)).to.include(STARTER);
            const late = Math.floor(fixture.world.app.clock.now() / 1000);
            expect(await fixture.stripe.send(named('invoice.paid'), { timestamp: late })).to.equal(200);
            expect(await grants(person)).to.equal(1);
        });
    });

    describe('of unknown objects', () => {
        it('is accepted and ignored: a subscription that no checkout of ours began', async () => {
            const { bank } = fixture.stripe;
            bank.customers.set('cus_other', { id: 'cus_other', email: null, card: 'good' });
            const session = bank.made('cs_test');
            bank.sessions.set(session, {
                ...{ id: session, status: 'open', paymentStatus: 'unpaid', price: 'price_starter_49', customer: 'cus_other', email: null },
                ...{ subscription: null, reference: null, metadata: {}, successUrl: '', cancelUrl: null, created: 0 },
                // Anybody can write metadata.
                subscriptionMetadata: { workspace: (await newcomer(fixture)).workspaceId },
            });
            const { metadata } = bank.pay(session);
            for (const event of fixture.stripe.waiting.splice(0)) expect(await fixture.stripe.send(event), event.type).to.equal(200);
            const { rows } = await fixture.world.app.db.raw<{ rows: { plan: string }[] }>('select plan from workspaces where id = ?', [
                metadata['workspace'] ?? '',
            ]);
            expect(rows).to.deep.equal([{ plan: 'free' }]);
        });

        it('is accepted and ignored: a price that is none of our plans', async () => {
            const person = await newcomer(fixture);
            const sessionId = await fixture.checkout(person, 'starter');
            fixture.stripe.bank.get(fixture.stripe.bank.sessions, sessionId, 'session').price = 'price_other';
            fixture.stripe.bank.pay(sessionId);
            for (const event of fixture.stripe.waiting.splice(0)) expect(await fixture.stripe.send(event), event.type).to.equal(200);
            expect(await fixture.planState(person)).to.include(FREE);
        });

        it('is accepted and ignored: an unknown type', async () => {
            const payload = JSON.stringify({ id: 'evt_new', object: 'event', type: 'something.new', data: { object: { id: 'x' } } });
            expect(await fixture.stripe.send({ id: 'evt_new', type: 'something.new', payload })).to.equal(200);
        });
    });

    describe('while Stripe is down', () => {
        for (const outage of [500, 503, 429, 'close'] as const) {
            it(`(${outage}) is refused with 503, and processed completely when it is delivered again`, async () => {
                const { person, named } = await paid();
                fixture.stripe.fail(outage);
                expect(await fixture.stripe.send(named('invoice.paid'))).to.equal(503);
                expect(await fixture.planState(person)).to.include(FREE);
                fixture.stripe.fail(undefined);
                expect(await fixture.stripe.send(named('invoice.paid'))).to.equal(200);
                expect(await fixture.planState(person)).to.include(STARTER);
                expect(await grants(person)).to.equal(1);
            });
        }

        it('in the middle leaves nothing half done', async () => {
            const { person, named } = await paid();
            let questions = 0;
            fixture.stripe.beforeAnswer(({ path }) => {
                questions += 1;
                // The invoice can be read, and the subscription cannot.
                if (path.startsWith('/v1/checkout')) fixture.stripe.fail(500);
            });
            expect(await fixture.stripe.send(named('invoice.paid'))).to.equal(503);
            expect(questions).to.be.greaterThan(1);
            expect(await fixture.planState(person)).to.include(FREE);
            fixture.stripe.beforeAnswer(undefined);
            fixture.stripe.fail(undefined);
            expect(await fixture.stripe.send(named('invoice.paid'))).to.equal(200);
            expect(await fixture.planState(person)).to.include(STARTER);
        });
    });

    it('is handled without an open transaction during requests to Stripe', async () => {
        const { person, events } = await paid();
        const open: number[] = [];
        fixture.stripe.beforeAnswer(async () => {
            const { rows } = await fixture.world.app.db.raw<{ rows: [{ count: number }] }>(
                "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
            );
            open.push(rows[0].count);
        });
        for (const event of events) await fixture.stripe.send(event);
        expect(open.length).to.be.greaterThan(events.length);
        expect(new Set(open)).to.deep.equal(new Set([0]));
        expect(await fixture.planState(person)).to.include(STARTER);
    });

    it('writes what it read only if no later read began meanwhile', async () => {
        const { person, named, events } = await paid();
        for (const event of events) await fixture.stripe.send(event);
        const { bank } = fixture.stripe;
        const subscription = [...bank.subscriptions.values()].at(-1);
        if (subscription === undefined) throw new Error('somebody subscribed');
        // The first read sees an active subscription, and waits. Then it ends, and a second read notices it.
        const asked = Promise.withResolvers<void>();
        const released = Promise.withResolvers<void>();
        fixture.stripe.beforeAnswer(({ path }) => {
            if (!path.startsWith('/v1/subscriptions/')) return;
            fixture.stripe.beforeAnswer(undefined);
            asked.resolve();
            return released.promise;
        });
        const created = named('customer.subscription.created');
        const first = fixture.stripe.send({ ...created, payload: created.payload.replace(created.id, 'evt_old') });
        await asked.promise;
        bank.cancel(subscription);
        await fixture.stripe.deliver();
        expect(await fixture.planState(person)).to.include({ plan: 'free' });
        released.resolve();
        expect(await first).to.equal(200);
        expect(await fixture.planState(person)).to.include({ plan: 'free' });
        const { rows } = await fixture.world.app.db.raw<{ rows: { status: string }[] }>(
            'select status from subscriptions where workspace_id = ?',
            [person.workspaceId],
        );
        expect(rows).to.deep.equal([{ status: 'canceled' }]);
    });

    it('has no route if payment is not configured', async () => {
        const world = await openWorld({ workers: 0 });
        const answer = await fetch(`${world.base}/webhooks/stripe`, { method: 'POST', body: '{}' });
        await world.close();
        expect(answer.status).to.equal(404);
    });
});
