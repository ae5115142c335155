import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Payment by Stripe. Plans follow only from these rows, never directly from an event. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table checkouts (
            id text collate "C" primary key check (id like 'chk\\_%'),
            workspace_id text collate "C" not null references workspaces (id),
            user_id text collate "C" not null,
            plan text not null check (plan in ('starter', 'pro')),
            -- Stripe's id. It shows that a subscription belongs to this workspace.
            session_id text collate "C" unique,
            state text not null default 'open' check (state in ('open', 'done', 'closed')),
            created_at timestamptz not null default app_now()
        );
        -- Nobody pays twice: a workspace has at most one open checkout.
        create unique index checkouts_open on checkouts (workspace_id) where state = 'open';

        create table subscriptions (
            workspace_id text collate "C" primary key references workspaces (id),
            customer_id text collate "C",
            subscription_id text collate "C" unique,
            item_id text collate "C",
            status text,
            -- The plan of its current price, which the next invoice bills. Null for a price that is not ours.
            plan text check (plan in ('starter', 'pro')),
            period_end timestamptz,
            -- Set if it was cancelled: the time when it ends.
            ends_at timestamptz,
            -- Why we ended it. We cancel it at Stripe until Stripe confirms that.
            ended_by text check (ended_by in ('refund', 'dispute', 'unpaid', 'deletion')),
            -- Only the process that began the latest read of Stripe may write its result.
            reads_begun bigint not null default 0,
            reads_applied bigint not null default 0,
            checked_at timestamptz not null default app_now(),
            check ((subscription_id is null) = (status is null))
        );
        create index subscriptions_to_cancel on subscriptions (workspace_id) where ended_by is not null;

        -- Each invoice grants the allowance of its period once. It grants nothing if a later period was granted before.
        create table paid_invoices (
            id text collate "C" primary key,
            workspace_id text collate "C" not null references workspaces (id),
            subscription_id text collate "C" not null,
            plan text not null check (plan in ('starter', 'pro')),
            period_start timestamptz not null,
            period_end timestamptz not null,
            number text,
            amount_cents bigint not null,
            currency text not null,
            link text,
            paid_at timestamptz not null,
            granted_at timestamptz,
            taken_back_at timestamptz,
            check (period_start < period_end)
        );
        create index paid_invoices_of_workspace on paid_invoices (workspace_id, period_end);

        create table stripe_events (
            id text collate "C" primary key,
            type text not null,
            handled_at timestamptz not null default app_now()
        );
        create index stripe_events_by_time on stripe_events (handled_at);
    `);
}
