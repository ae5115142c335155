import type { Knex } from 'knex';

/**
 * The removal of a maintainer by another workspace, which takes effect a day later: it is part of the maintainer's row, so that it is gone
 * with the row. The audit of a workspace names another workspace as the one that acted in it.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table maintainers
            add removal_id text collate "C" unique check (removal_id like 'rmv\\_%'),
            add removal_by text collate "C" references workspaces (id),
            add removal_at timestamptz,
            add removal_stopped_at timestamptz,
            add constraint maintainers_removal check (
                (removal_id is null) = (removal_at is null) and (removal_id is null) = (removal_by is null));
        create index maintainers_removals on maintainers (removal_at) where removal_at is not null;
        comment on column maintainers.removal_at is 'when the removal that is pending takes effect';
        comment on column maintainers.removal_stopped_at is 'when the owners of this workspace stopped a removal for the last time';
        comment on column workspace_news.topic is 'what shares a mail: the domain, or added; null in rows of earlier releases';

        alter table workspace_audit drop constraint workspace_audit_actor_check;
        alter table workspace_audit add constraint workspace_audit_actor_check
            check (actor in ('operator', 'system') or actor ~ '^(usr|key|wsp)_');
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        delete from workspace_audit where actor like 'wsp\\_%';
        alter table workspace_audit drop constraint workspace_audit_actor_check;
        alter table workspace_audit add constraint workspace_audit_actor_check
            check (actor in ('operator', 'system') or actor ~ '^(usr|key)_');
        alter table maintainers drop removal_id, drop removal_by, drop removal_at, drop removal_stopped_at;
    `);
}
