import type { Db } from '../../platform/db.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { tellOwners } from '../accounts/workspace-news.ts';
import { ownersOf } from './claims.ts';
import { findVersion, type HistoryRow } from './history.ts';
import { pointToLatest } from './latest.ts';
import { isMaintainer } from './maintainers.ts';
import { scheduleRun } from './verification.ts';
import type { YankReason } from './version-rows.ts';

/**
 * Takes a version out of use; the highest one that is left becomes the latest. A second time changes the reason alone.
 * Undefined where the site has no such version.
 */
export async function yank(
    db: Db,
    site: string,
    version: number,
    reason: YankReason,
    by: 'operator' | 'maintainer' = 'operator',
): Promise<HistoryRow | undefined> {
    const set = 'yanked_at = coalesce(yanked_at, app_now()), yank_reason = ?, yanked_by_operator = ?';
    return change(db, site, version, set, [reason, by === 'operator']);
}

/** Puts a yanked version back; does nothing to one that is in use. Undefined where the site has no such version. */
export async function unyank(db: Db, site: string, version: number): Promise<HistoryRow | undefined> {
    return change(db, site, version, 'yanked_at = null, yank_reason = null, yanked_by_operator = false', []);
}

/** What a maintainer asks for: a version to be taken out of use, or put back (`reason` absent). */
export interface YankOrder {
    site: string;
    version: number;
    workspaceId: string;
    reason?: YankReason;
    by: By;
}

export type Yanked =
    | { ok: true; version: HistoryRow }
    /** FORBIDDEN: an operator took it out of use for good. */
    | { ok: false; code: 'NOT_MAINTAINER' | 'VERSION_NOT_FOUND' | 'FORBIDDEN' };

/** The same by a workspace, if it maintains the domain. What an operator yanked for security or legal reasons stays as it is. */
export async function yankAsMaintainer(db: Db, { site, version, workspaceId, reason, by }: YankOrder): Promise<Yanked> {
    return db.transaction(async (trx) => {
        const registrable = await lockDomainOf(trx, site);
        if (registrable === undefined || !(await isMaintainer(trx, registrable, workspaceId))) return { ok: false, code: 'NOT_MAINTAINER' };
        const before = await findVersion(trx, site, version);
        if (before === undefined) return { ok: false, code: 'VERSION_NOT_FOUND' };
        const isFinal = before.isYankedByOperator && before.yankReason !== 'broken';
        if (isFinal) return reason === undefined ? { ok: false, code: 'FORBIDDEN' } : { ok: true, version: before };
        const after = reason === undefined ? await unyank(trx, site, version) : await yank(trx, site, version, reason, 'maintainer');
        if (before.yankReason !== (reason ?? null)) {
            const told = new Set([workspaceId, ...(await ownersOf(trx, registrable))]);
            await recordYank(trx, { site, version, workspaceId, reason, by });
            await tellOfYank(trx, { site, version, reason }, registrable, told);
        }
        return { ok: true, version: after ?? before };
    });
}

/**
 * The same by an operator: the audits of the workspace that published the version and of the domain's proved owners name it, and their
 * owners are mailed. Undefined where the site has no such version. Call it in a transaction.
 */
export async function yankAsOperator(
    trx: Db,
    { site, version, reason }: Pick<YankOrder, 'site' | 'version' | 'reason'>,
): Promise<HistoryRow | undefined> {
    const registrable = await lockDomainOf(trx, site);
    const before = await findVersion(trx, site, version);
    if (registrable === undefined || before === undefined) return undefined;
    const after = reason === undefined ? await unyank(trx, site, version) : await yank(trx, site, version, reason);
    if (before.yankReason === (reason ?? null)) return after;
    const concerned = new Set([await publisherOf(trx, site, version), ...(await ownersOf(trx, registrable))]);
    for (const workspaceId of concerned) await recordYank(trx, { site, version, workspaceId, reason, by: { actor: 'operator' } });
    await tellOfYank(trx, { site, version, reason }, registrable, concerned);
    return after;
}

type Yank = Pick<YankOrder, 'site' | 'version'> & { reason: YankReason | undefined };

async function recordYank(db: Db, { site, version, workspaceId, reason, by }: Yank & Pick<YankOrder, 'workspaceId' | 'by'>): Promise<void> {
    const act = reason === undefined ? { action: 'version.unyanked' as const } : { action: 'version.yanked' as const, details: { reason } };
    await recordAct(db, { ...by, ...act, workspaceId, target: `${site}@${version}` });
}

async function tellOfYank(db: Db, { site, version, reason }: Yank, registrable: string, workspaceIds: ReadonlySet<string>): Promise<void> {
    const line = `Version ${version} of ${site} was ${reason === undefined ? 'put back into use' : `taken out of use (${reason})`}.`;
    const subject = `A version on ${registrable} was ${reason === undefined ? 'put back' : 'yanked'}`;
    for (const workspaceId of workspaceIds) await tellOwners(db, { workspaceId, domain: registrable, subject, line });
}

async function publisherOf(db: Db, site: string, version: number): Promise<string> {
    const { rows } = await db.raw<{ rows: [{ workspace: string }] }>(
        'select published_by_workspace as workspace from versions where site = ? and version = ?',
        [site, version],
    );
    return rows[0].workspace;
}

async function change(db: Db, site: string, version: number, set: string, values: (string | boolean)[]): Promise<HistoryRow | undefined> {
    return db.transaction(async (trx) => {
        await lockDomainOf(trx, site);
        await trx.raw(`update versions set ${set} where site = ? and version = ?`, [...values, site, version]);
        await pointToLatest(trx, site);
        await scheduleRun(trx, site);
        return findVersion(trx, site, version);
    });
}

/** Blocks publishing and changes of maintainers on the domain until the transaction ends. */
async function lockDomainOf(db: Db, site: string): Promise<string | undefined> {
    const { rows } = await db.raw<{ rows: { registrable: string }[] }>(
        'select registrable from domains where registrable = (select registrable from sites where site = ?) for update',
        [site],
    );
    return rows[0]?.registrable;
}
