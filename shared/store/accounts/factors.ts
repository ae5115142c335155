import type { Db } from '../../platform/db.ts';

/** The second factors of a user. */
export interface Factors {
    hasTotp: boolean;
    passkeys: number;
    recoveryCodes: number;
}

/** The second factors of a user. */
export async function factorsOf(db: Db, userId: string): Promise<Factors> {
    const { rows } = await db.raw<{ rows: [Factors] }>(
        `select exists (select from totp_secrets where user_id = :userId and confirmed_at is not null) as "hasTotp",
                (select count(*) from passkeys where user_id = :userId) as passkeys,
                (select count(*) from recovery_codes where user_id = :userId) as "recoveryCodes"`,
        { userId },
    );
    return rows[0];
}

/** Whether a correct password is not enough. */
export function hasFactor({ hasTotp, passkeys }: Factors): boolean {
    return hasTotp || passkeys > 0;
}

/** Deletes every second factor of a user, and the tickets of sign-ins that wait for one. */
export async function dropFactors(db: Db, userId: string): Promise<void> {
    for (const table of ['totp_secrets', 'passkeys', 'recovery_codes', 'passkey_challenges', 'sign_in_tickets']) {
        await db.raw('delete from ?? where user_id = ?', [table, userId]);
    }
}

/** Whether a workspace demands a second factor of its members on the pages; keys work on without. */
export async function demandFactor(db: Db, workspaceId: string, isDemanded: boolean): Promise<void> {
    await db.raw('update workspaces set demands_factor = ? where id = ?', [isDemanded, workspaceId]);
}
