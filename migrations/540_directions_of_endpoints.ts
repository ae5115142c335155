import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** What the words of an endpoint mean (shared/domain/find/word-vectors.ts). Workers fill it when they index endpoints by the new rules. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw("set local lock_timeout = '900ms'");
    await knex.raw('alter table endpoints add column direction text collate "C"');
}
