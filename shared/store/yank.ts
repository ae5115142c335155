import type { Db } from '../db.ts';
import { findVersion, type HistoryRow } from './history.ts';
import { pointToLatest } from './latest.ts';
import type { YankReason } from './version-rows.ts';

/**
 * Takes a version out of use; the highest one that is left becomes the latest. A second time changes the reason alone.
 * Undefined where the site has no such version.
 */
export async function yank(db: Db, site: string, version: number, reason: YankReason): Promise<HistoryRow | undefined> {
    return change(db, site, version, 'yanked_at = coalesce(yanked_at, app_now()), yank_reason = ?', [reason]);
}

/** Puts a yanked version back; does nothing to one that is in use. Undefined where the site has no such version. */
export async function unyank(db: Db, site: string, version: number): Promise<HistoryRow | undefined> {
    return change(db, site, version, 'yanked_at = null, yank_reason = null', []);
}

async function change(db: Db, site: string, version: number, set: string, values: string[]): Promise<HistoryRow | undefined> {
    return db.transaction(async (trx) => {
        await trx.raw('select from domains where registrable = (select registrable from sites where site = ?) for update', [site]);
        await trx.raw(`update versions set ${set} where site = ? and version = ?`, [...values, site, version]);
        await pointToLatest(trx, site);
        return findVersion(trx, site, version);
    });
}
