import type { Knex } from 'knex';

/** When a webhook was created or last enabled. It does not get earlier events, even if they are spread later. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table webhooks add enabled_at timestamptz not null default app_now();
        update webhooks set enabled_at = created_at;
        analyze webhooks;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table webhooks drop column enabled_at');
}
