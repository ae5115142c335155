import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/**
 * Webhooks and their deliveries. A host has a row while deliveries to it wait. A worker holds this row while it sends them, so that the
 * limits of a webhook and of a host hold across all processes. Deliveries have no foreign keys, since they are created and deleted in bulk.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table webhooks (
            id text collate "C" primary key check (id like 'whk\\_%'),
            workspace_id text collate "C" not null references workspaces (id),
            -- Who last chose its URL or enabled it. On the plan Free, the credits are this user's.
            made_by text collate "C" not null references users (id),
            url text not null,
            host text collate "C" not null,
            -- Null if the host is an IP address.
            registrable text collate "C",
            events text[] not null,
            description text,
            is_enabled boolean not null default true,
            disabled_at timestamptz,
            disabled_reason text check (disabled_reason in ('caller', 'gone', 'failing', 'backlog')),
            -- Whether deliveries that waited when it was disabled have not been stopped yet. They are not sent meanwhile.
            is_stopping boolean not null default false,
            sealed bytea not null,
            -- The former secret also signs until former_until.
            former_sealed bytea,
            former_until timestamptz,
            -- Failed attempts since the last success.
            failures integer not null default 0,
            failing_since timestamptz,
            warned_at timestamptz,
            -- Whether its current URL ever answered 2xx. Webhooks that did not share a slower pace per host.
            has_delivered boolean not null default false,
            created_at timestamptz not null default app_now(),
            -- When it was created or last enabled. It does not get earlier events, even if they are spread later.
            enabled_at timestamptz not null default app_now(),
            updated_at timestamptz not null default app_now(),
            check (is_enabled = (disabled_at is null) and is_enabled = (disabled_reason is null))
        ) with (fillfactor = 70);
        create index webhooks_of_workspace on webhooks (workspace_id, created_at, id);
        create index webhooks_of_user on webhooks (made_by);
        create index webhooks_stopping on webhooks (id) where is_stopping;

        create table webhook_hosts (
            host text collate "C" primary key,
            -- When the next delivery is due; null: no delivery waits.
            due_at timestamptz,
            holder text,
            held_until timestamptz
        ) with (fillfactor = 70);
        create index webhook_hosts_due on webhook_hosts (due_at) where due_at is not null;

        create table webhook_deliveries (
            id text collate "C" primary key check (id like 'dlv\\_%'),
            webhook_id text collate "C" not null,
            event_id text collate "C" not null,
            -- The webhook's host, while the delivery waits.
            host text collate "C" not null,
            -- stopped: the webhook was disabled meanwhile.
            status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'stopped')),
            attempts integer not null default 0,
            -- Attempts before the last manual redelivery, which resets the waits to the shortest.
            earlier_attempts integer not null default 0,
            due_at timestamptz,
            -- Result of the last attempt.
            code smallint,
            problem text,
            answer text,
            duration_ms integer,
            attempted_at timestamptz,
            created_at timestamptz not null default app_now(),
            check ((status = 'pending') = (due_at is not null))
        ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
        create index webhook_deliveries_due on webhook_deliveries (host, webhook_id, due_at, id) where status = 'pending';
        create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, created_at, id);
        create index webhook_deliveries_at on webhook_deliveries (created_at);
    `);
}
