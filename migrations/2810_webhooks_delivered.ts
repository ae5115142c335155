import type { Knex } from 'knex';

/** Whether the current URL of a webhook ever answered 2xx. Webhooks that did not share a slower pace per host. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table webhooks add has_delivered boolean not null default false;
        update webhooks w set has_delivered = true
        where exists (select from webhook_deliveries d where d.webhook_id = w.id and d.status = 'delivered');
        analyze webhooks;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table webhooks drop column has_delivered');
}
