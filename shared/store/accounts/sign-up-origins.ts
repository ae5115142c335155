import { createHash } from 'node:crypto';
import { MOST_SIGN_UPS_A_DAY, signUpOrigins } from '../../domain/accounts/sign-up-origins.ts';
import type { Db } from '../../platform/db.ts';
import { publicMailProviders } from '../../platform/reserved-names.ts';

/**
 * Counts a sign-up with those of its day from the same range of addresses and mail domain; whether its inviter may earn by it. Of many
 * at once each has a number of its own. Call it in the transaction that signs up.
 */
export async function countSignUp(db: Db, from: { address: string; mailDomain: string }): Promise<boolean> {
    const { rows } = await db.raw<{ rows: { sign_ups: number }[] }>(
        `insert into sign_ups_of_a_day as known (day, origin, sign_ups)
         select (app_now() at time zone 'UTC')::date, o.origin, 1 from unnest(?::bytea[]) as o (origin) order by o.origin
         on conflict (day, origin) do update set sign_ups = known.sign_ups + 1
         returning sign_ups`,
        [signUpOrigins(from, publicMailProviders()).map(originHash)],
    );
    return rows.every((row) => row.sign_ups <= MOST_SIGN_UPS_A_DAY);
}

/** Forgets the days that are over. */
export async function forgetSignUps(db: Db): Promise<void> {
    await db.raw("delete from sign_ups_of_a_day where day < (app_now() at time zone 'UTC')::date");
}

function originHash(origin: string): Buffer {
    return createHash('sha256').update(`routebook sign-up ${origin}`, 'utf8').digest();
}
