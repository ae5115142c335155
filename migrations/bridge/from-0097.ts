import type { Knex } from 'knex';

/**
 * Updates from migration 0097 to 0156: creates the tables of 0100 to 0156 in order. Their functions follow with those of the baseline
 * (from-0156.ts).
 */
export async function updateFrom0097(knex: Knex): Promise<void> {
    await knex.raw(`
        -- 0100
        insert into workspaces (id, name) values ('wsp_routebook', 'Routebook');
        alter table memberships add constraint memberships_not_routebook check (workspace_id <> 'wsp_routebook');
        alter table api_keys add constraint api_keys_not_routebook check (workspace_id <> 'wsp_routebook');
        alter table credit_accounts add constraint credit_accounts_not_routebook check (id <> 'wsp_routebook');

        alter table maintainers
            add granted text check (granted in ('added', 'transferred')),
            add proven_at timestamptz;

        insert into maintainers (registrable, workspace_id)
            select distinct s.registrable, 'wsp_routebook'
            from versions v join sites s on s.site = v.site where v.origin = 'starter'
            on conflict do nothing;

        alter table versions drop constraint versions_check1;
        update versions set published_by_workspace = 'wsp_routebook' where origin = 'starter';
        alter table versions alter published_by_workspace set not null;

        -- 0101
        alter table versions add hosts text[] not null default '{}';
        update versions v set hosts = array(
            select distinct substring(u.url from '^[a-z]+://([^/:\\?#]+)') collate "C"
            from json_array_elements(v.document->'endpoints') as e,
                 lateral (values (e->>'url'), (case when json_typeof(e->'prepare') = 'object' then e->'prepare'->>'url' end)) as u (url)
            where u.url is not null order by 1);
        with histories as (
            select id, hosts, lag(hosts) over (partition by site order by version) as before from versions
        )
        update versions v
            set changes = (v.changes::jsonb || jsonb_build_object('hosts_added', array(
                select host from unnest(h.hosts) as host where host <> all (coalesce(h.before, '{}')))))::json
            from histories h where h.id = v.id;
        alter table versions alter hosts drop default;

        -- 0102
        create table owed_contributions (
            registrable text collate "C" primary key references domains,
            account_id text collate "C" not null references credit_accounts (id),
            owed_since timestamptz not null default app_now()
        );
        create index owed_contributions_of_account on owed_contributions (account_id);

        -- 0105
        create table claims (
            id text collate "C" primary key check (id like 'clm\\_%'),
            registrable text collate "C" not null,
            workspace_id text collate "C" not null references workspaces (id),
            account_id text collate "C" not null,
            token text collate "C" not null unique check (token ~ '^[0-9A-Za-z]{32}$'),
            status text not null default 'pending' check (status in ('pending', 'proven', 'failed')),
            reason text,
            method text check (method in ('dns', 'file')),
            checks integer not null default 0,
            failures integer not null default 0,
            due_at timestamptz,
            began_at timestamptz,
            checked_at timestamptz,
            proven_at timestamptz,
            created_at timestamptz not null default app_now(),
            expires_at timestamptz not null,
            check ((status = 'proven') = (proven_at is not null))
        );
        create index claims_of_workspace on claims (workspace_id, registrable, created_at, id);
        create index claims_of_account on claims (account_id) where status <> 'proven';
        create index claims_proven on claims (registrable) where status = 'proven';
        create index claims_due on claims (due_at) where due_at is not null;
        create index claims_running on claims (account_id) where began_at is not null;

        -- 0106
        create table workspace_news (
            id bigint generated always as identity primary key,
            workspace_id text collate "C" not null references workspaces (id),
            topic text collate "C",
            subject text not null,
            line text not null,
            removal_id text collate "C",
            at timestamptz not null default app_now(),
            mailed_at timestamptz
        );
        create index workspace_news_waiting on workspace_news (workspace_id, topic, id) where mailed_at is null;
        create index workspace_news_mailed on workspace_news (workspace_id, topic, mailed_at) where mailed_at is not null;

        -- 0107
        alter table domains
            add policy jsonb,
            add is_blocked boolean generated always as
                (blocked_at is not null or coalesce(policy @> '{"blocked": true}'::jsonb, false)) stored;

        -- 0110
        create sequence workspace_audit_id;
        create table workspace_audit (
            id bigint not null default nextval('workspace_audit_id'),
            at timestamptz not null default app_now(),
            workspace_id text collate "C" not null,
            actor text collate "C" not null check (actor in ('operator', 'system') or actor ~ '^(usr|key)_'),
            action text collate "C" not null,
            target text not null,
            ip inet,
            details jsonb not null default '{}',
            primary key (at, id)
        ) partition by range (at);
        create index workspace_audit_of_workspace on workspace_audit (workspace_id, at, id);
        create index workspace_audit_with_ip on workspace_audit (at) where ip is not null;
        create table workspace_audit_rest partition of workspace_audit default;

        -- 0111
        alter table api_keys add column scopes jsonb not null check (jsonb_typeof(scopes) = 'object') default '{
            "effects": ["read", "write"], "sites": null, "endpoints": null, "connections": [],
            "routes": ["fetch", "catalog", "jobs", "publish", "account"], "ip_allow": null
        }';

        -- 0115
        alter table web_sessions
            add column confirmed_at timestamptz,
            add column code_hash bytea check (octet_length(code_hash) = 32),
            add column code_expires_at timestamptz;
        update web_sessions set confirmed_at = created_at;
        alter table web_sessions alter column confirmed_at set not null, alter column confirmed_at set default app_now();

        -- 0116
        create table totp_secrets (
            user_id text collate "C" primary key references users (id) on delete cascade,
            sealed bytea not null,
            confirmed_at timestamptz,
            last_step bigint,
            created_at timestamptz not null default app_now()
        );

        create table passkeys (
            id text collate "C" primary key check (id like 'pky\\_%'),
            user_id text collate "C" not null references users (id) on delete cascade,
            credential_id bytea not null unique,
            public_key bytea not null,
            counter bigint not null,
            transports text[] not null,
            name text not null,
            created_at timestamptz not null default app_now(),
            last_used_at timestamptz
        );
        create index passkeys_of_user on passkeys (user_id);

        create table recovery_codes (
            user_id text collate "C" not null references users (id) on delete cascade,
            code_hash bytea not null check (octet_length(code_hash) = 32),
            primary key (user_id, code_hash)
        );

        create table passkey_challenges (
            challenge_hash bytea primary key check (octet_length(challenge_hash) = 32),
            user_id text collate "C" references users (id) on delete cascade,
            expires_at timestamptz not null
        );
        create index passkey_challenges_by_expiry on passkey_challenges (expires_at);

        create table sign_in_tickets (
            token_hash bytea primary key check (octet_length(token_hash) = 32),
            user_id text collate "C" not null references users (id) on delete cascade,
            expires_at timestamptz not null
        );
        create index sign_in_tickets_by_expiry on sign_in_tickets (expires_at);

        alter table workspaces add column demands_factor boolean not null default false;

        -- 0117
        alter table web_sessions add column address text;

        create table sign_ins (
            id bigint generated always as identity primary key,
            user_id text collate "C" not null references users (id) on delete cascade,
            at timestamptz not null default app_now(),
            how text not null,
            browser text not null,
            address text not null,
            is_new_browser boolean not null
        );
        create index sign_ins_of_user on sign_ins (user_id, id);

        create table known_browsers (
            user_id text collate "C" not null references users (id) on delete cascade,
            token_hash bytea not null check (octet_length(token_hash) = 32),
            signed_in_at timestamptz not null default app_now(),
            primary key (user_id, token_hash)
        );

        -- 0118
        create index passkey_challenges_of_user on passkey_challenges (user_id, expires_at);
        create index sign_in_tickets_of_user on sign_in_tickets (user_id);

        -- 0120
        create table secret_ring (
            is_only boolean primary key default true check (is_only),
            id text not null,
            key bytea not null check (octet_length(key) = 32),
            made_at timestamptz not null default app_now()
        );

        -- 0121
        create table outgoing_mails (
            id bigint generated always as identity primary key,
            recipient text not null,
            sealed bytea not null,
            queued_at timestamptz not null default app_now(),
            due_at timestamptz not null default app_now(),
            attempts integer not null default 0
        );
        create index outgoing_mails_by_due on outgoing_mails (due_at);

        -- 0122
        alter table idempotency add column sealed bytea, add column remaining bigint;
        alter table idempotency alter column sealed set storage external;

        -- 0123
        alter table kept_results alter column result drop not null, add column sealed bytea;
        alter table kept_results alter column sealed set storage external;

        -- 0140
        create or replace function app_now() returns timestamptz language sql stable as $$ select now() $$;
        create or replace function fleet_now() returns timestamptz language sql stable as $$ select now() $$;
        drop table app_clock;

        -- 0141
        alter table maintainers
            add removal_id text collate "C" unique check (removal_id like 'rmv\\_%'),
            add removal_by text collate "C" references workspaces (id),
            add removal_at timestamptz,
            add removal_stopped_at timestamptz,
            add constraint maintainers_removal check (
                (removal_id is null) = (removal_at is null) and (removal_id is null) = (removal_by is null));
        create index maintainers_removals on maintainers (removal_at) where removal_at is not null;

        alter table workspace_audit drop constraint workspace_audit_actor_check;
        alter table workspace_audit add constraint workspace_audit_actor_check
            check (actor in ('operator', 'system') or actor ~ '^(usr|key|wsp)_');

        -- 0142
        alter table workspace_news add domain text collate "C";

        -- 0144
        alter table users
            add referral_from timestamptz,
            add earns_inviter boolean not null default true;
        create index users_awaiting_bonus on users (id) where first_charged_at is null or referral_from is not null;
        drop index users_uncharged;

        alter table owed_contributions
            add published_by text collate "C",
            add credits integer not null default 50 check (credits > 0),
            add a_month integer not null default 10 check (a_month > 0);
        create table contributions_by_call (
            site text collate "C" primary key references sites,
            registrable text collate "C" not null references owed_contributions on delete cascade,
            account_id text collate "C" not null
        );
        create index contributions_by_call_of_domain on contributions_by_call (registrable);

        alter table earned_bonuses add reclaimed integer check (reclaimed between 0 and credits);
        alter table ledger_entries
            drop constraint ledger_entries_kind_check,
            add constraint ledger_entries_kind_check
                check (kind in ('grant', 'expire', 'lapse', 'hold', 'charge', 'release',
                                'first_fetch', 'referral', 'contribution', 'reclaim', 'bonus', 'move')) not valid;

        -- 0146
        create table sign_ups_of_a_day (
            day date not null,
            origin bytea not null check (octet_length(origin) = 32),
            sign_ups integer not null,
            primary key (day, origin)
        );

        -- 0149
        alter table domains add operator_policy jsonb;

        -- 0151
        alter table users add column sign_in_revision bigint not null default 0;
        alter table sign_in_tickets add column revision bigint not null default 0;

        -- 0154
        alter table versions add passed_endpoints text[] not null default '{}';
        update versions v set passed_endpoints = array(
            select f->>'name' from json_array_elements(n.findings) f where f->>'verdict' = 'passed'
        )
        from verifications n where n.version_id = v.id and n.findings is not null and v.verified_at is not null;

        -- 0156
        create index verifications_running on verifications (began_at) where ended_at is null and run > 0;

        analyze workspaces, maintainers, versions, web_sessions;
    `);
}
