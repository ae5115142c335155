import type { Knex } from 'knex';

/** What a key may do (shared/domain/scopes.ts). Keys that were there before may do everything but maintain sites and use connections. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table api_keys add column scopes jsonb not null check (jsonb_typeof(scopes) = 'object') default '{
            "effects": ["read", "write"], "sites": null, "endpoints": null, "connections": [],
            "routes": ["fetch", "catalog", "jobs", "publish", "account"], "ip_allow": null
        }'
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table api_keys drop column scopes');
}
