import type { Knex } from 'knex';

/** How long the successes of a whole site took, so that a list of cards does not read a week of every endpoint of every site. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table site_durations (
            site text not null,
            day date not null,
            bucket smallint not null,
            successes bigint not null,
            primary key (site, day, bucket)
        );
        insert into site_durations select site, day, bucket, sum(successes) from endpoint_durations group by 1, 2, 3;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table site_durations;');
}
