import type { Db } from '../db.ts';

/** Makes the row of a registrable domain and locks it to the end of the transaction: publishers and operators follow one another. */
export async function lockRegistrable(db: Db, registrable: string): Promise<void> {
    await db.raw('insert into domains (registrable) values (?) on conflict do nothing', [registrable]);
    await db.raw('select from domains where registrable = ? for update', [registrable]);
}
