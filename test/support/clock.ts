import type { Db } from '../../shared/platform/db.ts';

/** Moves the clock of a database, `app_now()`, forward. */
export async function advanceClock(db: Db, ms: number): Promise<void> {
    const { rows } = await db.raw<{ rows: [{ ms: number }] }>('select (extract(epoch from app_now() - now()) * 1000)::float8 as ms');
    await replaceClock(db, Math.round(rows[0].ms) + ms);
}

/** Sets the clock of a database to a time. It continues from there. */
export async function setClock(db: Db, iso: string): Promise<void> {
    await replaceClock(db, Date.parse(iso) - Date.now());
}

/** Sets the clock of a database this many milliseconds ahead of the server's clock. */
export async function replaceClock(db: Db, offsetMs: number): Promise<void> {
    await db.raw(`create or replace function app_now() returns timestamptz language sql stable
                  as $$ select now() + interval '${offsetMs} milliseconds' $$`);
}
