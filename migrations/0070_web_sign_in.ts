import type { Knex } from 'knex';

/**
 * What signing in needs: sessions and mailed links (only their hashes are stored), the mails that wait to be sent, and the
 * attempts that are counted. Whoever deleted an account left the hash of the address, so that it earns nothing a second time.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table users add column deleted_at timestamptz, add column invite_code text unique;

        alter table memberships drop constraint memberships_role_check;
        alter table memberships add constraint memberships_role_check check (role in ('owner', 'admin', 'billing', 'member'));

        create table web_sessions (
            id text collate "C" primary key check (id like 'ses\\_%'),
            token_hash bytea not null unique check (octet_length(token_hash) = 32),
            user_id text collate "C" not null references users (id) on delete cascade,
            workspace_id text collate "C" references workspaces (id) on delete set null,
            browser text not null,
            created_at timestamptz not null default app_now(),
            seen_at timestamptz not null default app_now(),
            expires_at timestamptz not null
        );
        create index web_sessions_of_user on web_sessions (user_id);
        create index web_sessions_by_expiry on web_sessions (expires_at);
        comment on column web_sessions.workspace_id is 'the workspace that was looked at last';

        create table mail_links (
            token_hash bytea primary key check (octet_length(token_hash) = 32),
            purpose text not null check (purpose in ('verify', 'reset', 'change')),
            user_id text collate "C" not null references users (id) on delete cascade,
            address text not null,
            created_at timestamptz not null default app_now(),
            expires_at timestamptz not null
        );
        create index mail_links_of_user on mail_links (user_id, purpose);
        create index mail_links_by_expiry on mail_links (expires_at);
        comment on column mail_links.address is 'whoever opens the link proves to read this address';

        create table mails (
            id bigint generated always as identity primary key,
            recipient text not null,
            subject text not null,
            body text not null,
            queued_at timestamptz not null default app_now(),
            due_at timestamptz not null default app_now(),
            attempts integer not null default 0
        );
        create index mails_by_due on mails (due_at);

        create table attempts (
            name text collate "C" primary key,
            used integer not null,
            ends_at timestamptz not null
        );
        create index attempts_by_end on attempts (ends_at);

        -- Counts one attempt under every name, or under none where one of them is full: then the seconds until it is not.
        -- Rows are locked in the order of their names, whoever asks.
        create function attempts_take(p_names text[], p_limits integer[], p_seconds integer[]) returns double precision
        language plpgsql as $$
        declare
            moment timestamptz := app_now();
            wait double precision;
        begin
            insert into attempts (name, used, ends_at)
                select name, 0, moment from unnest(p_names) as n (name) order by name on conflict do nothing;
            perform from attempts a where a.name = any(p_names) order by a.name for update;
            -- The clock may have been read just before another's attempt began: nobody waits longer than a whole window.
            select max(least(extract(epoch from a.ends_at - moment), n.seconds)) into wait
                from attempts a join unnest(p_names, p_limits, p_seconds) as n (name, most, seconds) on n.name = a.name
                where a.ends_at > moment and a.used >= n.most;
            if wait is not null then
                return wait;
            end if;
            update attempts a
                set used = case when a.ends_at > moment then a.used + 1 else 1 end,
                    ends_at = case when a.ends_at > moment then a.ends_at else moment + n.seconds * interval '1 second' end
                from unnest(p_names, p_seconds) as n (name, seconds) where n.name = a.name;
            return 0;
        end $$;

        create table former_users (
            address_hash bytea primary key check (octet_length(address_hash) = 32),
            allowance_left bigint not null check (allowance_left >= 0),
            resets_at timestamptz not null,
            first_charged_at timestamptz,
            deleted_at timestamptz not null default app_now()
        );
        comment on table former_users is 'what a deleted account had used up, by the SHA-256 of its normalised address';
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table former_users;
        drop function attempts_take(text[], integer[], integer[]);
        drop table attempts;
        drop table mails;
        drop table mail_links;
        drop table web_sessions;
        delete from memberships where role = 'billing';
        alter table memberships drop constraint memberships_role_check;
        alter table memberships add constraint memberships_role_check check (role in ('owner', 'admin', 'member'));
        alter table users drop column invite_code, drop column deleted_at;
    `);
}
