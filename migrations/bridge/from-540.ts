import type { Db } from '../../shared/platform/db.ts';

/** Brings a database at migration 540, the last one before the baseline, to the baseline: its table of endpoints had another name once. */
export async function updateFrom540(db: Db): Promise<void> {
    await db.raw(`
        do $$
        declare
            old record;
        begin
            -- Inherited checks follow those of the whole table.
            for old in
                select conrelid::regclass as owner, conname as name from pg_constraint
                where conname like 'endpoints\\_by\\_tier\\_%' and not (contype in ('c', 'n') and coninhcount > 0)
            loop
                execute format('alter table %s rename constraint %I to %I', old.owner, old.name, replace(old.name, '_by_tier', ''));
            end loop;
        end $$;
    `);
}
