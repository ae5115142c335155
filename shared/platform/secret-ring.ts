import { createSecretKey } from 'node:crypto';
import { KEY_BYTES, type SecretKey } from '../domain/accounts/key-ring.ts';
import type { Db } from './db.ts';

/** Reads the key ring in the database, for an installation without SECRET_KEYS; undefined if there is none. */
export async function findDatabaseKey(db: Db): Promise<SecretKey | undefined> {
    const row: { id: string; key: Buffer } | undefined = await db('secret_ring').first('id', 'key');
    return row && { id: row.id, key: createSecretKey(row.key) };
}

/** Reads the key ring, and creates a missing one. Processes that start together get the same ring. */
export async function makeDatabaseKey(db: Db, { id, bytes }: { id: string; bytes: Buffer }): Promise<SecretKey> {
    if (bytes.length !== KEY_BYTES) throw new RangeError(`a key must have ${KEY_BYTES} bytes`);
    await db('secret_ring').insert({ id, key: bytes }).onConflict().ignore();
    const key = await findDatabaseKey(db);
    if (key === undefined) throw new Error('the database contains no key ring');
    return key;
}
