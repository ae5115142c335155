import { newWebToken, webTokenHash } from '../../domain/accounts/web-token.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Columns, columns, countRows, type Db, fromNow, now } from '../../platform/db.ts';

interface Passkey {
    /** `pky_…` */
    passkeyId: string;
    userId: string;
    /** The id that the authenticator uses, in base64url. */
    credentialId: string;
    publicKey: Buffer;
    counter: number;
    transports: string[];
    name: string;
    createdAt: Date;
    lastUsedAt: Date | null;
}

const PASSKEY: Columns<Passkey> = {
    passkeyId: 'p.id',
    ...columns('p', 'user_id credential_id public_key counter transports name created_at last_used_at'),
};

/** Maximum number of passkeys of one user. */
export const MAX_PASSKEYS = 20;

/** Lifetime of a challenge, and so of a page with a passkey button. */
const CHALLENGE_LASTS = '600 seconds';

/** Maximum number of challenges of one user. A new challenge replaces the oldest. */
const MAX_CHALLENGES = 10;

/** Creates a challenge for an authenticator; `userId` is the signed-in user, if any. */
export async function makeChallenge(db: Db, userId: string | undefined): Promise<string> {
    const challenge = newWebToken();
    if (userId !== undefined) {
        const older = db('passkey_challenges')
            .where({ user_id: userId })
            .orderBy([{ column: 'expires_at', order: 'desc' }, 'challenge_hash']);
        await db('passkey_challenges')
            .whereIn('challenge_hash', older.offset(MAX_CHALLENGES - 1).select('challenge_hash'))
            .delete();
    }
    const row = { challenge_hash: webTokenHash(challenge), user_id: userId, expires_at: fromNow(db, CHALLENGE_LASTS) };
    await db('passkey_challenges').insert(row);
    return challenge;
}

/** Uses a challenge. True if it was created for this user (or without a user) and has not expired. */
export async function takeChallenge(db: Db, challenge: string, userId: string | undefined): Promise<boolean> {
    const taken = await db('passkey_challenges')
        .where({ challenge_hash: webTokenHash(challenge), user_id: userId ?? null })
        .where('expires_at', '>', now(db))
        .delete();
    return taken === 1;
}

/** Stores a new passkey; false if it is already known or the user has too many. Call it while the user's row is locked. */
export async function addPasskey(
    db: Db,
    passkey: Pick<Passkey, 'userId' | 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'name'>,
): Promise<boolean> {
    const { userId, publicKey, counter, transports, name } = passkey;
    if ((await countRows(db('passkeys').where({ user_id: userId }))) >= MAX_PASSKEYS) return false;
    const credential_id = Buffer.from(passkey.credentialId, 'base64url');
    const added = await db('passkeys')
        .insert({ id: newId('pky'), user_id: userId, credential_id, public_key: publicKey, counter, transports, name })
        .onConflict('credential_id')
        .ignore()
        .returning('id');
    return added.length === 1;
}

/** The passkey with the id that an authenticator sent, and the sign-in revision of its user. */
export async function findPasskey(db: Db, credentialId: string): Promise<(Passkey & { revision: number }) | undefined> {
    const row = await db('passkeys as p')
        .join('users as u', 'u.id', 'p.user_id')
        .where({ 'p.credential_id': Buffer.from(credentialId, 'base64url') })
        .first({ ...PASSKEY, revision: 'u.sign_in_revision' });
    return row && { ...row, credentialId };
}

/** The passkeys of a user, in the order in which they were added. */
export async function listPasskeys(db: Db, userId: string): Promise<Passkey[]> {
    const rows: (Passkey & { credentialId: Buffer })[] = await db('passkeys as p')
        .where({ user_id: userId })
        .orderBy(['created_at', 'id'])
        .select(PASSKEY);
    return rows.map((row) => ({ ...row, credentialId: row.credentialId.toString('base64url') }));
}

/** Records a use. False for a counter that was seen before: the passkey may be a copy. Authenticators without a counter send 0. */
export async function markUsed(db: Db, passkeyId: string, counter: number): Promise<boolean> {
    const marked = await db('passkeys')
        .where({ id: passkeyId })
        .where((is) => {
            is.where('counter', '<', counter);
            if (counter === 0) is.orWhere({ counter: 0 });
        })
        .update({ counter, last_used_at: now(db) });
    return marked === 1;
}

/** Removes a passkey. Returns its name; undefined if this user has no such passkey. */
export async function removePasskey(db: Db, userId: string, passkeyId: string): Promise<string | undefined> {
    const [removed] = await db('passkeys').where({ id: passkeyId, user_id: userId }).delete().returning('name');
    return removed?.name;
}
