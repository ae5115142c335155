import { createSecretKey, randomBytes } from 'node:crypto';
import { createKeyRing, KEY_BYTES, type KeyRing, keyIdOf, type SecretKey } from '../domain/accounts/key-ring.ts';
import type { Db } from './db.ts';
import type { Log } from './log.ts';
import { once } from './once.ts';
import { bytesInTurns, stepsInTurns } from './turns.ts';

export type Secrets = ReturnType<typeof createSecrets>;

interface SecretsOptions {
    db: Db;
    /** SECRET_KEYS; empty: the database contains the key ring. */
    keys: readonly SecretKey[];
    log: Pick<Log, 'warn'>;
}

/**
 * Keys for encryption and signatures: SECRET_KEYS, or a key ring in the database if it is not set. Purposes are a few constant names. Long
 * texts take several turns of the event loop. The database is read at most once: for its ring, or, if SECRET_KEYS is set, when a text
 * refers to an unknown key. Each method rejects with the database's error if it has to be read and is unreachable.
 */
export function createSecrets({ db, keys, log }: SecretsOptions) {
    const [first, ...others] = keys;
    const configured = first === undefined ? undefined : createKeyRing([first, ...others]);
    if (configured === undefined) {
        log.warn(
            { part: 'secrets' },
            'SECRET_KEYS is not set: the key ring is in the database, so anyone with a copy of the database can decrypt it (docs/operations.md, The key ring)',
        );
    }
    const own = once(async () => createKeyRing([await makeDatabaseKey(db)]));
    /** The key from the time before SECRET_KEYS was set. */
    const former = once(async () => {
        const key = await findDatabaseKey(db);
        return key && createKeyRing([key]);
    });
    const current = async (): Promise<KeyRing> => configured ?? own();
    return {
        /** Whether SECRET_KEYS is set. A key ring in the database does not protect against people who can read the database. */
        isConfigured: configured !== undefined,
        /** Encrypts for one purpose, with the first key of the ring. */
        async seal(plain: Buffer | string, purpose: string): Promise<Buffer> {
            const ring = await current();
            return stepsInTurns(ring.sealing(typeof plain === 'string' ? await bytesInTurns(plain) : plain, purpose));
        },
        /** Decrypts; undefined if no key of the ring can. */
        async open(sealed: Buffer, purpose: string): Promise<Buffer | undefined> {
            const ring = await current();
            const id = keyIdOf(sealed);
            if (id === undefined) return undefined;
            const opener = ring.has(id) || configured === undefined ? ring : await former();
            return opener && stepsInTurns(opener.opening(sealed, purpose));
        },
        /** A 32-byte HMAC with the first key of the ring. */
        hmac: async (text: string, purpose: string): Promise<Buffer> => (await current()).hmac(text, purpose),
        /** Whether any key of the ring made this HMAC. Stays true across a key rotation. */
        async isHmac(mac: Buffer, text: string, purpose: string): Promise<boolean> {
            if ((await current()).isHmac(mac, text, purpose)) return true;
            return configured !== undefined && (await former())?.isHmac(mac, text, purpose) === true;
        },
        /** Whether the first key of the ring encrypted it. Otherwise it has to be encrypted again. */
        isCurrent: async (sealed: Buffer): Promise<boolean> => (await current()).isCurrent(sealed),
    };
}

/** Reads the key ring in the database, for an installation without SECRET_KEYS; undefined if there is none. */
async function findDatabaseKey(db: Db): Promise<SecretKey | undefined> {
    const row: { id: string; key: Buffer } | undefined = await db('secret_ring').first('id', 'key');
    return row && { id: row.id, key: createSecretKey(row.key) };
}

/** Reads the key ring, and creates a missing one. Processes that start together get the same ring. */
async function makeDatabaseKey(db: Db): Promise<SecretKey> {
    const key = { id: `db-${randomBytes(4).toString('hex')}`, key: randomBytes(KEY_BYTES) };
    await db('secret_ring').insert(key).onConflict().ignore();
    const stored = await findDatabaseKey(db);
    if (stored === undefined) throw new Error('the database contains no key ring');
    return stored;
}
