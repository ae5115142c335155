import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Signing in: sessions, mailed links, counted attempts, second factors, and known browsers. Only hashes of tokens are stored. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table web_sessions (
            id text collate "C" primary key check (id like 'ses\\_%'),
            token_hash bytea not null unique check (octet_length(token_hash) = 32),
            user_id text collate "C" not null references users (id) on delete cascade,
            -- The workspace that the user opened last.
            workspace_id text collate "C" references workspaces (id) on delete set null,
            browser text not null,
            -- The client address of the last request.
            address text,
            created_at timestamptz not null default app_now(),
            seen_at timestamptz not null default app_now(),
            -- When the person last confirmed their identity. Some pages need a recent confirmation.
            confirmed_at timestamptz not null default app_now(),
            -- A mailed code that confirms the identity.
            code_hash bytea check (octet_length(code_hash) = 32),
            code_expires_at timestamptz,
            expires_at timestamptz not null
        );
        create index web_sessions_of_user on web_sessions (user_id);
        create index web_sessions_by_expiry on web_sessions (expires_at);

        -- Links that were mailed. Opening one proves that its holder reads this address.
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

        create table attempts (
            name text collate "C" primary key,
            used integer not null,
            ends_at timestamptz not null
        );
        create index attempts_by_end on attempts (ends_at);

        create table totp_secrets (
            user_id text collate "C" primary key references users (id) on delete cascade,
            sealed bytea not null,
            -- Null until the first code was entered.
            confirmed_at timestamptz,
            -- The time step of the last code, so that each code works only once.
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
            -- Null before sign-in.
            user_id text collate "C" references users (id) on delete cascade,
            expires_at timestamptz not null
        );
        create index passkey_challenges_by_expiry on passkey_challenges (expires_at);
        create index passkey_challenges_of_user on passkey_challenges (user_id, expires_at);

        -- Sign-ins with a correct password that still need the second factor.
        create table sign_in_tickets (
            token_hash bytea primary key check (octet_length(token_hash) = 32),
            user_id text collate "C" not null references users (id) on delete cascade,
            -- users.sign_in_revision at the time of the password check.
            revision bigint not null default 0,
            expires_at timestamptz not null
        );
        create index sign_in_tickets_by_expiry on sign_in_tickets (expires_at);
        create index sign_in_tickets_of_user on sign_in_tickets (user_id);

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

        -- Browsers with a cookie that lasts longer than sessions.
        create table known_browsers (
            user_id text collate "C" not null references users (id) on delete cascade,
            token_hash bytea not null check (octet_length(token_hash) = 32),
            signed_in_at timestamptz not null default app_now(),
            primary key (user_id, token_hash)
        );
    `);
    await knex.raw(ATTEMPTS);
}

const ATTEMPTS = `
    -- Seconds to wait until none of the counters is full; null if none is. The clock may have been read just before another attempt began
    -- its window, so the wait is at most a whole window.
    create function attempts_wait(p_names text[], p_limits integer[], p_seconds integer[], moment timestamptz) returns double precision
    language sql stable as $$
        select max(least(extract(epoch from a.ends_at - moment), n.seconds))
        from attempts a join unnest(p_names, p_limits, p_seconds) as n (name, most, seconds) on n.name = a.name
        where a.ends_at > moment and a.used >= n.most
    $$;

    -- Counts one attempt under each name. If one of the names has reached its limit, counts none, and returns the seconds until the attempt
    -- is possible. Rows are locked in the order of their names. A refused attempt stores nothing: a stranger could fill the table by
    -- signing in with ever new addresses.
    create function attempts_take(p_names text[], p_limits integer[], p_seconds integer[]) returns double precision
    language plpgsql as $$
    declare
        moment timestamptz := app_now();
        wait double precision := attempts_wait(p_names, p_limits, p_seconds, moment);
    begin
        if wait is not null then
            return wait;
        end if;
        insert into attempts (name, used, ends_at)
            select name, 0, moment from unnest(p_names) as n (name) order by name on conflict do nothing;
        perform from attempts a where a.name = any(p_names) order by a.name for update;
        -- Again, since other attempts may have been counted while this one waited for their locks.
        wait := attempts_wait(p_names, p_limits, p_seconds, moment);
        if wait is not null then
            return wait;
        end if;
        update attempts a
            set used = case when a.ends_at > moment then a.used + 1 else 1 end,
                ends_at = case when a.ends_at > moment then a.ends_at else moment + n.seconds * interval '1 second' end
            from unnest(p_names, p_seconds) as n (name, seconds) where n.name = a.name;
        return 0;
    end $$;
`;
