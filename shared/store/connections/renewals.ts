import { type Db, fromNow, now } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { endGrant } from './connection-status.ts';
import type { Renewed } from './oauth.ts';

/** A grant as it was read. A write applies only while the stored value is still this one, so it never overwrites a newer value. */
export interface StoredGrant {
    connectionId: string;
    sealed: Buffer;
}

/** The current grant of a connection; undefined if the connection no longer exists or has ended. */
export async function readStoredGrant(db: Db, connectionId: string): Promise<StoredGrant | undefined> {
    const row = await db('connections').where({ id: connectionId }).whereNotIn('status', ['expired', 'revoked']).first('sealed');
    return row && { connectionId, sealed: row.sealed };
}

/** Claims a renewal for 15 s, longer than a token endpoint may take. @returns whether it was free and the grant unchanged */
export async function takeRenewal(db: Db, read: StoredGrant): Promise<boolean> {
    const free = same(db, read).where((row) => row.whereNull('renewing_until').orWhere('renewing_until', '<=', now(db)));
    return (await free.update({ renewing_until: fromNow(db, '15 seconds') })) === 1;
}

/** Releases the claim of a renewal that changed nothing. */
export async function releaseRenewal(db: Db, read: StoredGrant): Promise<void> {
    await same(db, read).update({ renewing_until: null });
}

/** Stores the result of a renewal. @param scopes undefined: unchanged @returns whether the grant had not changed since it was read */
export async function storeRenewal(
    db: Db,
    read: StoredGrant,
    { sealed, expiresAt, scopes }: Omit<Renewed, 'scopes'> & { scopes: string[] | undefined },
): Promise<boolean> {
    const renewed = { sealed, expires_at: expiresAt, renewing_until: null, ...(scopes === undefined ? {} : { scopes }) };
    return (await same(db, read).update(renewed)) === 1;
}

/** Ends the connection of a grant that provides no more tokens. @returns whether the grant had not changed since it was read */
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
