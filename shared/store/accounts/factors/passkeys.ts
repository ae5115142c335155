import { newWebToken, webTokenHash } from '../../../domain/accounts/web-token.ts';
import { newId } from '../../../domain/text/ids.ts';
import type { Db } from '../../../platform/db.ts';

export interface Passkey {
    /** `pky_…` */
    passkeyId: string;
    userId: string;
    /** As the authenticator names it, base64url. */
    credentialId: string;
    publicKey: Buffer;
    counter: number;
    transports: string[];
    name: string;
    createdAt: Date;
    lastUsedAt: Date | null;
}

/** Passkeys of one user. */
export const MOST_PASSKEYS = 20;

/** Seconds that a page with a passkey button works. */
const CHALLENGE_SECONDS = 600;

/** Challenges of one user; one more ends the oldest. */
const MOST_CHALLENGES = 10;

/** A challenge for an authenticator; `userId` is who is signed in, if anybody. */
export async function makeChallenge(db: Db, userId: string | undefined): Promise<string> {
    const challenge = newWebToken();
    await db.raw(
        `delete from passkey_challenges where challenge_hash in (
             select challenge_hash from passkey_challenges where user_id = ? order by expires_at desc, challenge_hash offset ?)`,
        [userId ?? null, MOST_CHALLENGES - 1],
    );
    await db.raw(
        `insert into passkey_challenges (challenge_hash, user_id, expires_at) values (?, ?, app_now() + ? * interval '1 second')`,
        [webTokenHash(challenge), userId ?? null, CHALLENGE_SECONDS],
    );
    return challenge;
}

/** Uses a challenge up; whether it was made for this user (or for nobody yet) and is not too old. */
export async function takeChallenge(db: Db, challenge: string, userId: string | undefined): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        'delete from passkey_challenges where challenge_hash = ? and user_id is not distinct from ? and expires_at > app_now()',
        [webTokenHash(challenge), userId ?? null],
    );
    return rowCount === 1;
}

/** Keeps a new passkey; false where it is known already, or where there are too many. */
export async function addPasskey(
    db: Db,
    passkey: Pick<Passkey, 'userId' | 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'name'>,
): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
         select :id, :userId, :credential, :publicKey, :counter, :transports, :name
         where (select count(*) from passkeys where user_id = :userId) < :most on conflict (credential_id) do nothing`,
        {
            ...passkey,
            id: newId('pky'),
            credential: Buffer.from(passkey.credentialId, 'base64url'),
            most: MOST_PASSKEYS,
        },
    );
    return rowCount === 1;
}

/** The passkey that an authenticator names, and the revision of its user that a sign-in is judged at. */
export async function findPasskey(db: Db, credentialId: string): Promise<(Passkey & { revision: number }) | undefined> {
    const { rows } = await db.raw<{ rows: (PasskeyColumns & { revision: number })[] }>(
        `select p.*, u.sign_in_revision as revision from passkeys p join users u on u.id = p.user_id where p.credential_id = ?`,
        [Buffer.from(credentialId, 'base64url')],
    );
    return rows[0] && { ...toPasskey(rows[0]), revision: rows[0].revision };
}

/** The passkeys of a user, in the order in which they were added. */
export async function listPasskeys(db: Db, userId: string): Promise<Passkey[]> {
    const { rows } = await db.raw<{ rows: PasskeyColumns[] }>(`select ${COLUMNS} from passkeys where user_id = ? order by created_at, id`, [
        userId,
    ]);
    return rows.map(toPasskey);
}

/**
 * Writes down that a passkey was used. Authenticators that count never go back: false for a counter that was seen before, since
 * somebody may have copied the passkey. Those that do not count say 0.
 */
export async function markUsed(db: Db, passkeyId: string, counter: number): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        `update passkeys set counter = :counter, last_used_at = app_now()
         where id = :passkeyId and (counter < :counter or (counter = 0 and :counter = 0))`,
        { passkeyId, counter },
    );
    return rowCount === 1;
}

/** Takes a passkey away; its name, or undefined where this user has no such passkey. */
export async function removePasskey(db: Db, userId: string, passkeyId: string): Promise<string | undefined> {
    const { rows } = await db.raw<{ rows: { name: string }[] }>('delete from passkeys where id = ? and user_id = ? returning name', [
        passkeyId,
        userId,
    ]);
    return rows[0]?.name;
}

const COLUMNS = 'id, user_id, credential_id, public_key, counter, transports, name, created_at, last_used_at';

interface PasskeyColumns {
    id: string;
    user_id: string;
    credential_id: Buffer;
    public_key: Buffer;
    counter: number;
    transports: string[];
    name: string;
    created_at: Date;
    last_used_at: Date | null;
}

function toPasskey(row: PasskeyColumns): Passkey {
    return {
        passkeyId: row.id,
        userId: row.user_id,
        credentialId: row.credential_id.toString('base64url'),
        publicKey: row.public_key,
        counter: row.counter,
        transports: row.transports,
        name: row.name,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
    };
}
