import type { Db } from '../../platform/db.ts';

/** The session, or the credentials of a sign-in, changed meanwhile. */
export class SessionEnded extends Error {
    constructor() {
        super('the session was ended meanwhile');
        this.name = 'SessionEnded';
    }
}

/**
 * Runs work in a transaction during which the session cannot end. Ending sessions takes an exclusive lock on the user's row. So either this
 * work commits first, or it finds the session ended and does nothing.
 * @param options `alone`: the work itself ends sessions of the user, or changes the user's credentials
 * @throws SessionEnded
 */
export async function whileSignedIn<Result>(
    db: Db,
    { userId, sessionId }: { userId: string; sessionId: string },
    work: (trx: Db) => Promise<Result>,
    options: { alone?: boolean } = {},
): Promise<Result> {
    return db.transaction(async (trx) => {
        await (options.alone === true ? lockUser(trx, userId) : trx.raw('select from users where id = ? for key share', [userId]));
        const { rows } = await trx.raw<{ rows: unknown[] }>(
            'select from web_sessions where id = ? and user_id = ? and expires_at > app_now() for key share',
            [sessionId, userId],
        );
        if (rows.length === 0) throw new SessionEnded();
        return work(trx);
    });
}

/**
 * Holds off whatever ends sessions of the user until the end of the transaction.
 * @param revision what the sign-in was judged at
 * @throws SessionEnded where sessions were ended since
 */
export async function holdRevision(trx: Db, userId: string, revision: number): Promise<void> {
    await trx.raw('select from users where id = ? for key share', [userId]);
    // A statement of its own: it sees what the lock waited for.
    const { rows } = await trx.raw<{ rows: unknown[] }>('select from users where id = ? and sign_in_revision = ? and deleted_at is null', [
        userId,
        revision,
    ]);
    if (rows.length === 0) throw new SessionEnded();
}

/** Holds a user's row alone, before anything of the user is read that a session under way might add to. */
export async function lockUser(trx: Db, userId: string): Promise<void> {
    await trx.raw('select from users where id = ? for update', [userId]);
}

/** Sign-ins under way begin no session; resolves with the revision that holds from now on. The user's row is held alone. */
export async function raiseRevision(trx: Db, userId: string): Promise<number> {
    const { rows } = await trx.raw<{ rows: { revision: number }[] }>(
        'update users set sign_in_revision = sign_in_revision + 1 where id = ? returning sign_in_revision as revision',
        [userId],
    );
    return rows[0]?.revision ?? 0;
}
