import { cursorSealer, openCursor } from '../../domain/search/cursor.ts';
import type { Json } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { once } from '../../platform/once.ts';

export type Cursors = ReturnType<typeof createCursors>;

/** Cursors that every process can open. They are authenticated with the key in the database, which is read for the first cursor. */
export function createCursors(db: Db) {
    const key = once(() => readKey(db));
    return {
        /** Creates a cursor for the page that begins at `place`. For `query`, see shared/domain/search/cursor.ts. */
        seal: async (query: Json, place: Json) => cursorSealer(await key(), query)(place),
        /** For many cursors of one query. */
        sealer: async (query: Json) => cursorSealer(await key(), query),
        /** The place at which that page begins; undefined if the cursor was not created for the same query. */
        open: async (query: Json, cursor: string) => openCursor(await key(), query, cursor),
    };
}

async function readKey(db: Db): Promise<Uint8Array> {
    const row = await db('cursor_key').first('key');
    if (row === undefined) throw new Error('the database contains no key for cursors');
    return row.key;
}
