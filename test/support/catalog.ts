import type { Db } from '../../shared/platform/db.ts';

/** Lists the parts of a database by kind, each part as one line of text. Two databases are equal if these lists are equal. */
export async function readCatalog(db: Db): Promise<Record<string, string[]>> {
    const parts = Object.entries(PARTS).map(async ([kind, sql]) => {
        const { rows } = await db.raw<{ rows: { line: string }[] }>(`${OURS} ${sql}`);
        return [kind, rows.map(({ line }) => line).toSorted()] as const;
    });
    return Object.fromEntries(await Promise.all(parts));
}

/**
 * All relations of our schema. Excludes knex's lock, and the months of the audit and the days of the request log, which depend on the date.
 */
const OURS = `
    with ours as (
        select c.* from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relname !~ '^(migrations_lock|workspace_audit_\\d{4}_|usage_\\d{4}_)'
    )`;

const PARTS = {
    relations: `
        select concat_ws(' ', relkind, relpersistence, relname, array_to_string(array(select unnest(reloptions) order by 1), ','),
                         pg_get_expr(relpartbound, oid), pg_get_partkeydef(oid)) as line
        from ours where relkind <> 'i'`,
    columns: `
        select concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation,
                         case when a.attnotnull then 'not null' end, a.attidentity, a.attgenerated, a.attstorage,
                         pg_get_expr(d.adbin, d.adrelid)) as line
        from ours c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where c.relkind in ('r', 'p', 'c')`,
    constraints: `
        select concat_ws(' ', c.relname, k.conname, k.convalidated, pg_get_constraintdef(k.oid)) as line
        from ours c join pg_constraint k on k.conrelid = c.oid where k.contype <> 'n'`,
    indexes: `
        select concat_ws(' ', i.indisvalid, pg_get_indexdef(i.indexrelid)) as line
        from ours c join pg_index i on i.indrelid = c.oid`,
    triggers: `
        select pg_get_triggerdef(t.oid) as line from ours c join pg_trigger t on t.tgrelid = c.oid where not t.tgisinternal`,
    functions: `
        select regexp_replace(pg_get_functiondef(p.oid), '\\s+', ' ', 'g') as line from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'`,
    migrations: 'select name as line from migrations',
};
