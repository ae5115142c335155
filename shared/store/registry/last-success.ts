import type { Db } from '../../platform/db.ts';

/** The last success of an endpoint within two days, in any version. The log lags by a second. */
export async function lastSuccess(db: Db, site: string, endpoint: string): Promise<Date | undefined> {
    const { rows } = await db.raw<{ rows: { at: Date | null }[] }>(
        `select max(last_success_at) as at from endpoint_days
         where site = ? and endpoint = ? and day >= ((app_now() at time zone 'UTC')::date - 1)`,
        [site, endpoint],
    );
    return rows[0]?.at ?? undefined;
}
