import type { Knex } from 'knex';

/**
 * Verification: when the next run of a site is due, how the last one went, and what that means for the version it called. One row a
 * site: all that is asked of the past is how many runs in a row failed, which stands with the version.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Also what keeps two workers from running sites of one domain at the same time: a run is over before its ten minutes are.
        alter table domains add verification_began_at timestamptz;

        alter table versions
            add verification_failures integer not null default 0 check (verification_failures >= 0),
            add drifted_at timestamptz,
            add check (drifted_at is null or verified_at is null);
        create index versions_drifted on versions (id) where drifted_at is not null;

        -- run numbers the runs of a site; attempts are those since one came to a verdict. due_at null: none by itself.
        create table verifications (
            site text collate "C" primary key references sites,
            due_at timestamptz,
            run integer not null default 0,
            attempts integer not null default 0,
            version_id bigint references versions (id),
            began_at timestamptz,
            ended_at timestamptz,
            outcome text check (outcome in ('passed', 'failed', 'undecided', 'nothing')),
            findings json,
            check ((ended_at is null) = (outcome is null) and (ended_at is null) = (findings is null)),
            check ((run = 0) = (began_at is null) and (run = 0) = (version_id is null))
        );
        create index verifications_due on verifications (due_at) where due_at is not null;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table verifications;
        drop index versions_drifted;
        alter table versions drop column drifted_at, drop column verification_failures;
        alter table domains drop column verification_began_at;
    `);
}
