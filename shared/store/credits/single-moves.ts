import type { Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { Bonuses } from './bonuses.ts';
import type { HoldOrder, HoldRow } from './holds.ts';
import type { SettledRow, Settlement } from './settlements.ts';

const HOLD: PreparedQuery = {
    name: 'credits_hold_one',
    text: `select operation, available, is_stale, amount, units
        from credits_hold_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
};

const SETTLE: PreparedQuery = {
    name: 'credits_settle_one',
    text: 'select operation, won, state, marked, charged, first_fetch, available from credits_settle_one($1, $2, $3, $4, $5)',
};

/** A hold that travels alone (migrations/0097): by the rules of a batch, for half of the server's time. */
export async function holdOne(db: Db, order: HoldOrder, timeoutMs: number): Promise<HoldRow | undefined> {
    const { operation, accountId, userId, workspaceId, keyId, site, endpoint, versionId, effect, unit, maxUnits, siteState } = order;
    const who = [operation, accountId, userId, workspaceId, keyId];
    const what = [site, endpoint, versionId, effect, unit, maxUnits, Math.ceil(order.expiresInMs)];
    const [row] = await runPrepared<HoldRow>(db, HOLD, [...who, ...what, siteState?.registrable, siteState?.revision], timeoutMs);
    return row;
}

/** The same for a charge or a release; undefined where there never was such a hold. */
export async function settleOne(
    db: Db,
    { operation, charge }: Settlement,
    bonuses: Bonuses,
    timeoutMs: number,
): Promise<SettledRow | undefined> {
    const { firstFetch, referral, referralsAMonth } = bonuses;
    const [row] = await runPrepared<SettledRow>(db, SETTLE, [operation, charge, firstFetch, referral, referralsAMonth], timeoutMs);
    return row;
}
