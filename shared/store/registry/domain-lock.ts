import type { Db } from '../../platform/db.ts';

/** Creates the row of a registrable domain if needed, and locks it to the end of the transaction. */
export async function lockRegistrable(db: Db, registrable: string): Promise<void> {
    await db.raw('insert into domains (registrable) values (?) on conflict do nothing', [registrable]);
    await db.raw('select from domains where registrable = ? for update', [registrable]);
}
