import type { Knex } from 'knex';

/** Which endpoints of a version a verification run called and found well: that of one says nothing of another one. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table versions add passed_endpoints text[] not null default '{}';
        update versions v set passed_endpoints = array(
            select f->>'name' from json_array_elements(n.findings) f where f->>'verdict' = 'passed'
        )
        from verifications n where n.version_id = v.id and n.findings is not null and v.verified_at is not null;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table versions drop column passed_endpoints;');
}
