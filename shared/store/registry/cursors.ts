import { cursorSealer, openCursor } from '../../domain/search/cursor.ts';
import type { Json } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { once } from '../../platform/once.ts';

/** Cursors that every process can open. They are authenticated with the key in the database. */
export interface Cursors {
    /** Creates a cursor for the page that begins at `place`. For `query`, see shared/domain/search/cursor.ts. */
    seal(query: Json, place: Json): Promise<string>;
    /** For many cursors of one query. */
    sealer(query: Json): Promise<(place: Json) => string>;
    /** The place at which that page begins; undefined if the cursor was not created for the same query. */
    open(query: Json, cursor: string): Promise<Json | undefined>;
}

/** Reads the key once, when the first cursor is needed. */
export function createCursors(db: Db): Cursors {
    const key = once(() => readKey(db));
    return {
        seal: async (query, place) => cursorSealer(await key(), query)(place),
        sealer: async (query) => cursorSealer(await key(), query),
        open: async (query, cursor) => openCursor(await key(), query, cursor),
    };
}

async function readKey(db: Db): Promise<Uint8Array> {
    const row = await db('cursor_key').first('key');
    if (row === undefined) throw new Error('the database contains no key for cursors');
    return row.key;
}
