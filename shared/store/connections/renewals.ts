import { type Db, fromNow, now } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { endGrant } from './connection-status.ts';
import type { Renewed } from './oauth.ts';

/** A grant as it was read. Who writes says what they read: a value that changed meanwhile is kept. */
export interface StoredGrant {
    connectionId: string;
    sealed: Buffer;
}

/** The grant of a connection as it is now; undefined if the connection is gone or has ended. */
export async function readStoredGrant(db: Db, connectionId: string): Promise<StoredGrant | undefined> {
    const row = await db('connections').where({ id: connectionId }).whereNotIn('status', ['expired', 'revoked']).first('sealed');
    return row && { connectionId, sealed: row.sealed };
}

/**
 * Takes the renewal of a grant, for 15 seconds: longer than a token endpoint may take.
 * @returns whether it was free, and the grant still the one that was read
 */
export async function takeRenewal(db: Db, read: StoredGrant): Promise<boolean> {
    const free = same(db, read).where((row) => row.whereNull('renewing_until').orWhere('renewing_until', '<=', now(db)));
    return (await free.update({ renewing_until: fromNow(db, '15 seconds') })) === 1;
}

/** Ends a renewal that changed nothing. */
export async function giveRenewalBack(db: Db, read: StoredGrant): Promise<void> {
    await same(db, read).update({ renewing_until: null });
}

/** Stores what a renewal brought. @param scopes undefined: as they were @returns whether the grant was still the one that was read */
export async function storeRenewal(
    db: Db,
    read: StoredGrant,
    { sealed, expiresAt, scopes }: Omit<Renewed, 'scopes'> & { scopes: string[] | undefined },
): Promise<boolean> {
    const renewed = { sealed, expires_at: expiresAt, renewing_until: null, ...(scopes === undefined ? {} : { scopes }) };
    return (await same(db, read).update(renewed)) === 1;
}

/** Ends the connection of a grant that yields no more tokens. @returns whether the grant had not changed since it was read */
export async function endStoredGrant(
    { db, secrets }: { db: Db; secrets: Secrets },
    read: StoredGrant,
    { status, publicUrl }: { status: 'revoked' | 'expired'; publicUrl: string },
): Promise<boolean> {
    return db.transaction(async (trx) => {
        if ((await same(trx, read).update({ renewing_until: null })) === 0) return false;
        await endGrant({ db: trx, secrets }, { connectionId: read.connectionId, status }, publicUrl);
        return true;
    });
}

function same(db: Db, { connectionId, sealed }: StoredGrant) {
    return db('connections').where({ id: connectionId, sealed });
}
