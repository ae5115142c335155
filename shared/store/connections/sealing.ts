import { createSecretKey, randomBytes } from 'node:crypto';
import { createKeyRing, KEY_BYTES, type KeyRing } from '../../domain/accounts/key-ring.ts';
import type { StoredSecret } from '../../domain/connections/secret.ts';
import type { Db } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';

/** The purpose for the key ring, for the data keys of workspaces. */
export const CONNECTION_KEY_PURPOSE = 'connection-key';

/** The row of an encrypted value. The value cannot be decrypted in another row. */
export interface SealedPlace {
    workspaceId: string;
    connectionId: string;
    site: string;
}

/** No key of `SECRET_KEYS` decrypts the data key of a workspace. */
export class DataKeyUnreadable extends Error {
    constructor(workspaceId: string) {
        super(`no key of SECRET_KEYS decrypts the data key of ${workspaceId}; add the key that encrypted it`);
    }
}

/** Encrypts a value with the data key of its workspace. The data key is created on first use. @throws DataKeyUnreadable */
export async function sealSecret(db: Db, secrets: Secrets, place: SealedPlace, secret: StoredSecret): Promise<Buffer> {
    return ringOf(await dataKey(db, secrets, place.workspaceId)).seal(JSON.stringify(secret), purposeOf(place));
}

/** Decrypts the data key of a workspace; undefined if no key of the installation can. */
export async function openDataKey(secrets: Secrets, sealedKey: Buffer): Promise<KeyRing | undefined> {
    const key = await secrets.open(sealedKey, CONNECTION_KEY_PURPOSE);
    return key && ringOf(key);
}

/**
 * Returns a function that decrypts a value when it is called; it returns undefined if the value was moved to another row. Concurrent calls
 * share a decrypted value, because decryption takes a third of the time that a connection adds to a call. The value is not kept beyond
 * these calls.
 */
export function secretOpener(dataKey: KeyRing, sealed: Buffer, place: SealedPlace): () => StoredSecret | undefined {
    let shared: WeakRef<StoredSecret> | undefined;
    return () => {
        const known = shared?.deref();
        if (known !== undefined) return known;
        const plain = dataKey.open(sealed, purposeOf(place));
        if (plain === undefined) return undefined;
        const secret = JSON.parse(plain.toString('utf8')) as StoredSecret;
        shared = new WeakRef(secret);
        return secret;
    };
}

/** Decrypts a value that another table encrypts with the data key of a workspace. */
export async function openWithDataKey(db: Db, secrets: Secrets, place: SealedPlace, sealed: Buffer): Promise<StoredSecret | undefined> {
    const row = await db('connection_keys').where({ workspace_id: place.workspaceId }).first('sealed');
    const key = row && (await openDataKey(secrets, row.sealed));
    return key && secretOpener(key, sealed, place)();
}

async function dataKey(db: Db, secrets: Secrets, workspaceId: string): Promise<Buffer> {
    const stored = async (): Promise<Buffer | undefined> =>
        (await db('connection_keys').where({ workspace_id: workspaceId }).first('sealed'))?.sealed;
    let sealed = await stored();
    if (sealed === undefined) {
        const made = await secrets.seal(randomBytes(KEY_BYTES), CONNECTION_KEY_PURPOSE);
        await db('connection_keys').insert({ workspace_id: workspaceId, sealed: made }).onConflict().ignore();
        sealed = await stored();
    }
    const key = sealed && (await secrets.open(sealed, CONNECTION_KEY_PURPOSE));
    if (key === undefined) throw new DataKeyUnreadable(workspaceId);
    return key;
}

function ringOf(key: Buffer): KeyRing {
    return createKeyRing([{ id: 'data', key: createSecretKey(key) }]);
}

/** A part of the associated data of the encryption. */
function purposeOf({ workspaceId, connectionId, site }: SealedPlace): string {
    return JSON.stringify(['connection', workspaceId, connectionId, site]);
}
