import type { Knex } from 'knex';

/** Tallies are written by every publish and read by every list: what was added up has to make room soon. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table site_tallies set (
            autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0,
            autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0
        );
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table site_tallies reset (
            autovacuum_vacuum_threshold, autovacuum_vacuum_scale_factor,
            autovacuum_analyze_threshold, autovacuum_analyze_scale_factor
        );
    `);
}
