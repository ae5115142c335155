import type { Knex } from 'knex';

/**
 * The operator's own workspace: it maintains what the installation itself publishes. The id is the one of
 * shared/domain/routebook.ts. It has no members, keys or credits, which the constraints keep.
 *
 * A maintainer's row says where its right comes from, since reserved names (shared/domain/reserved-names.ts) and the claim of a
 * domain (shared/store/claim.ts) depend on it.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        insert into workspaces (id, name) values ('wsp_routebook', 'Routebook');
        alter table memberships add constraint memberships_not_routebook check (workspace_id <> 'wsp_routebook');
        alter table api_keys add constraint api_keys_not_routebook check (workspace_id <> 'wsp_routebook');
        alter table credit_accounts add constraint credit_accounts_not_routebook check (id <> 'wsp_routebook');

        -- granted: by an operator, as one more maintainer or as the only one. proven_at: since when this workspace has proved
        -- that it owns the domain; null where it never did, or where its proof is gone.
        alter table maintainers
            add granted text check (granted in ('added', 'transferred')),
            add proven_at timestamptz;

        insert into maintainers (registrable, workspace_id)
            select distinct s.registrable, 'wsp_routebook'
            from versions v join sites s on s.site = v.site where v.origin = 'starter'
            on conflict do nothing;

        alter table versions drop constraint versions_check1;
        update versions set published_by_workspace = 'wsp_routebook' where origin = 'starter';
        alter table versions alter published_by_workspace set not null;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table versions alter published_by_workspace drop not null;
        update versions set published_by_workspace = null where origin = 'starter';
        alter table versions add constraint versions_check1 check ((origin = 'starter') = (published_by_workspace is null));
        delete from maintainers where workspace_id = 'wsp_routebook';
        alter table maintainers drop granted, drop proven_at;
        alter table credit_accounts drop constraint credit_accounts_not_routebook;
        alter table api_keys drop constraint api_keys_not_routebook;
        alter table memberships drop constraint memberships_not_routebook;
        delete from workspaces where id = 'wsp_routebook';
    `);
}
