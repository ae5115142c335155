import { type Billing, billingOf } from '../../shared/billing/billing.ts';
import { changeSubscription } from '../../shared/billing/change-plan.ts';
import { beginCheckout } from '../../shared/billing/checkout.ts';
import { reconcileSubscriptions } from '../../shared/billing/reconcile.ts';
import type { Plan } from '../../shared/domain/accounts/plans.ts';
import type { SoldPlan } from '../../shared/domain/accounts/subscription.ts';
import { findWorkspace } from '../../shared/store/accounts/workspaces.ts';
import { findSubscription } from '../../shared/store/billing/subscriptions.ts';
import { ledgerEntries } from '../store/ledger-entries.ts';
import { join, type Person } from '../support/people.ts';
import type { Subscription as StripeSubscription } from '../support/stripe/objects.ts';
import { type LocalStripe, openStripe } from '../support/stripe-server.ts';
import { openWorld, type World } from '../support/world.ts';

/** A Routebook with a local Stripe. */
export interface BillingWorld {
    world: World;
    stripe: LocalStripe;
    billing: Billing;
    /** Sets the time of the database, of signatures and of Stripe's periods. */
    setTime(iso: string): Promise<void>;
    /** Begins a checkout like the pages. Resolves with the id of Stripe's session. */
    checkout(person: Person, plan: SoldPlan): Promise<string>;
    /** Pays for a plan and delivers every event. Resolves with the subscription. */
    subscribe(person: Person, plan: SoldPlan): Promise<StripeSubscription>;
    /** Chooses another plan on the billing page. */
    choose(person: Person, plan: Plan): ReturnType<typeof changeSubscription>;
    /** Ends the month: Stripe bills again, and delivers its events unless `silently`. */
    turn(options?: { silently?: boolean }): Promise<void>;
    keep(): Promise<void>;
    /** Plan, remaining and full allowance, bonus, and the billing date. */
    planState(person: Person): Promise<PlanState>;
    /** Kinds and amounts of the ledger of the workspace's account. */
    story(accountId: string): Promise<string[]>;
    close(): Promise<void>;
}

interface PlanState {
    plan: string;
    limit: number;
    left: number;
    bonus: number;
    /** The date of the reset. */
    resets: string;
}

/** Opens the world before the tests of a block, and closes it after them. */
export function useBillingWorld(): BillingWorld {
    const fixture = {} as BillingWorld;
    before(async () => {
        Object.assign(fixture, await openBillingWorld());
    });
    after(() => fixture.close());
    return fixture;
}

/** A world in which each test begins on May 10 of the next year, without a subscription and with Stripe up. */
export function usePlanWorld(): BillingWorld {
    const fixture = useBillingWorld();
    beforeEach(async () => {
        fixture.stripe.bank.subscriptions.clear();
        const { rows } = await fixture.world.app.db.raw<{ rows: [{ now: Date }] }>('select app_now() as now');
        const next = new Date(Date.UTC(rows[0].now.getUTCFullYear() + 1, 4, 10, 12));
        await fixture.setTime(next.toISOString());
    });
    afterEach(() => {
        fixture.stripe.fail(undefined);
        fixture.stripe.waiting.length = 0;
    });
    return fixture;
}

async function openBillingWorld(): Promise<BillingWorld> {
    const stripe = await openStripe();
    const world = await openWorld({ workers: 0, config: { stripe: stripe.settings } });
    stripe.serve(world);
    const { app } = world;
    const billing = billingOf(app);
    if (billing === undefined) throw new Error('payment is set up here');

    async function checkout({ workspaceId, userId }: Person, plan: SoldPlan): Promise<string> {
        const workspace = await findWorkspace(app.db, workspaceId);
        const begun = await beginCheckout(billing as Billing, {
            workspaceId,
            userId,
            current: workspace?.plan ?? 'free',
            wanted: plan,
            email: 'payer@people.example',
        });
        if (!begun.ok) throw new Error(begun.why);
        return begun.url.split('/').at(-1) ?? '';
    }

    return {
        world,
        stripe,
        billing,
        async setTime(iso) {
            const { rows } = await app.db.raw<{ rows: [{ now: Date }] }>('select app_now() as now');
            const seconds = (Date.parse(iso) - rows[0].now.getTime()) / 1000;
            await world.clock.advance({ seconds });
        },
        checkout,
        async subscribe(person, plan) {
            const subscription = stripe.bank.pay(await checkout(person, plan));
            await stripe.deliver();
            return subscription;
        },
        async choose({ workspaceId }, plan) {
            const [subscription, workspace] = [await findSubscription(app.db, workspaceId), await findWorkspace(app.db, workspaceId)];
            if (subscription === undefined || workspace === undefined) throw new Error('nothing to change');
            const changed = await changeSubscription(billing, subscription, workspace.plan, plan);
            await stripe.deliver();
            return changed;
        },
        async turn({ silently = false } = {}) {
            stripe.bank.turn();
            if (silently) stripe.waiting.length = 0;
            else await stripe.deliver();
        },
        keep: () => reconcileSubscriptions(app),
        async planState({ workspaceId }) {
            const workspace = await findWorkspace(app.db, workspaceId);
            const balance = workspace && (await app.credits.balance(workspace.accountId));
            if (balance === undefined) throw new Error('the workspace has an account that pays');
            return {
                plan: workspace?.plan ?? '',
                limit: balance.allowance.limit,
                left: balance.allowance.remaining,
                bonus: balance.bonus,
                resets: balance.resetsAt.toISOString().slice(0, 10),
            };
        },
        async story(accountId) {
            const entries = await ledgerEntries(app.db, accountId);
            return entries.map(({ kind, availableDelta }) => `${kind} ${availableDelta > 0 ? '+' : ''}${availableDelta}`);
        },
        async close() {
            await world.close();
            await stripe.close();
        },
    };
}

/** A new user with a key, on Free. */
export function newcomer(fixture: BillingWorld, options: Parameters<typeof join>[1] = {}): Promise<Person> {
    return join(fixture.world, options);
}
