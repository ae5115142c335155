import type { YankReason } from '../../domain/package/registry-choices.ts';
import { type Db, now, orNow } from '../../platform/db.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { recordEvent } from '../events/events.ts';
import { removeEndpoints } from './endpoint-index.ts';
import { findVersion, type HistoryRow } from './history.ts';
import { isMaintainer } from './maintainers.ts';
import { ownersOf } from './ownership.ts';
import { storePaces } from './paces.ts';
import { indexSites } from './search-index.ts';
import { scheduleRun } from './verification.ts';

/** The highest remaining version becomes the latest. A repeated yank changes only the reason. Undefined for an unknown version. */
export async function yank(
    db: Db,
    site: string,
    version: number,
    reason: YankReason,
    by: 'operator' | 'maintainer' = 'operator',
): Promise<HistoryRow | undefined> {
    return change(db, site, version, { yanked_at: orNow(db, 'yanked_at'), yank_reason: reason, yanked_by_operator: by === 'operator' });
}

/** Restores a yanked version; does nothing to others. Undefined if the site has no such version. */
export async function unyank(db: Db, site: string, version: number): Promise<HistoryRow | undefined> {
    return change(db, site, version, { yanked_at: null, yank_reason: null, yanked_by_operator: false });
}

/** A maintainer's request to yank a version or, without `reason`, to restore it. */
interface YankOrder {
    site: string;
    version: number;
    workspaceId: string;
    reason?: YankReason;
    by: By;
}

type Yanked =
    | { ok: true; version: HistoryRow }
    /** FORBIDDEN: an operator yanked it permanently. */
    | { ok: false; code: 'NOT_MAINTAINER' | 'VERSION_NOT_FOUND' | 'FORBIDDEN' };

/** Yanks or restores for a maintainer. What an operator yanked for security or legal reasons stays yanked. */
export async function yankAsMaintainer(db: Db, { site, version, workspaceId, reason, by }: YankOrder): Promise<Yanked> {
    return db.transaction(async (trx) => {
        const registrable = await lockDomainOf(trx, site);
        if (registrable === undefined || !(await isMaintainer(trx, registrable, workspaceId))) return { ok: false, code: 'NOT_MAINTAINER' };
        const before = await findVersion(trx, site, version);
        if (before === undefined) return { ok: false, code: 'VERSION_NOT_FOUND' };
        const isFinal = before.isYankedByOperator && before.yankReason !== 'broken';
        if (isFinal && reason === undefined) return { ok: false, code: 'FORBIDDEN' };
        // A maintainer makes an operator's reason stricter, never milder.
        if (isFinal && reason !== 'legal') return { ok: true, version: before };
        const holder = isFinal ? 'operator' : 'maintainer';
        const after = reason === undefined ? await unyank(trx, site, version) : await yank(trx, site, version, reason, holder);
        if (before.yankReason !== (reason ?? null)) {
            const notified = new Set([workspaceId, ...(await ownersOf(trx, registrable))]);
            await recordYank(trx, { site, version, workspaceId, reason, by });
            await notifyOfYank(trx, { site, version, reason }, registrable, notified);
        }
        return { ok: true, version: after ?? before };
    });
}

/**
 * Yanks or restores on behalf of an operator. The change is recorded in the audit logs of the publishing workspace and of the domain's
 * proven owners, and their owners are mailed. Undefined if the site has no such version. Call it in a transaction.
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
    await notifyOfYank(trx, { site, version, reason }, registrable, concerned);
    return after;
}

type Yank = Pick<YankOrder, 'site' | 'version'> & { reason: YankReason | undefined };

async function recordYank(db: Db, { site, version, workspaceId, reason, by }: Yank & Pick<YankOrder, 'workspaceId' | 'by'>): Promise<void> {
    const act = reason === undefined ? { action: 'version.unyanked' as const } : { action: 'version.yanked' as const, details: { reason } };
    await recordAct(db, { ...by, ...act, workspaceId, target: `${site}@${version}` });
}

async function notifyOfYank(
    db: Db,
    { site, version, reason }: Yank,
    registrable: string,
    workspaceIds: ReadonlySet<string>,
): Promise<void> {
    const line = `Version ${version} of ${site} was ${reason === undefined ? 'put back into use' : `taken out of use (${reason})`}.`;
    const subject = `A version on ${registrable} was ${reason === undefined ? 'put back' : 'yanked'}`;
    for (const workspaceId of workspaceIds) await notifyOwners(db, { workspaceId, domain: registrable, subject, line });
    if (reason !== undefined) await recordEvent(db, { type: 'schema.yanked', site, data: { site, version, reason } });
}

async function publisherOf(db: Db, site: string, version: number): Promise<string> {
    return (await db('versions').where({ site, version }).first('published_by_workspace')).published_by_workspace;
}

async function change(db: Db, site: string, version: number, columns: Record<string, unknown>): Promise<HistoryRow | undefined> {
    return db.transaction(async (trx) => {
        const registrable = await lockDomainOf(trx, site);
        await trx('versions').where({ site, version }).update(columns);
        await pointToLatest(trx, site);
        if (registrable !== undefined) await storePaces(trx, registrable);
        await scheduleRun(trx, site);
        return findVersion(trx, site, version);
    });
}

/** Makes the highest usable version the latest, and records its period, like `addVersion`, which need not read the package again. */
async function pointToLatest(db: Db, site: string): Promise<void> {
    const latest = await db('versions')
        .where({ site, yanked_at: null })
        .orderBy('version', 'desc')
        .first(
            'id',
            db.raw("document->>'title' as title, document->>'description' as description, document->>'intent_category' as intent_category"),
        );
    // Read in SQL, because JavaScript dates drop the microseconds by which lists are ordered.
    const time = (column: string) => (latest === undefined ? null : db('versions').where({ id: latest.id }).select(column));
    const sites: { site: string; title: string }[] = await db('sites')
        .where({ site })
        .update({
            latest_version_id: latest?.id ?? null,
            published_at: time('published_at'),
            verified_at: time('verified_at'),
            title: latest?.title ?? '',
            description: latest?.description ?? '',
            intent_category: latest?.intent_category ?? '',
        })
        .returning(['site', 'title']);
    await indexSites(db, sites);
    await removeEndpoints(db, site, latest?.id);
    const spells = db('latest_spells').where({ site, ended_at: null });
    if (latest !== undefined) spells.whereNot({ version_id: latest.id });
    await spells.update({ ended_at: now(db) });
    if (latest === undefined) return;
    await db('latest_spells').insert({ site, version_id: latest.id }).onConflict(db.raw('(site) where ended_at is null')).ignore();
}

/** Blocks publishing and changes of maintainers on the domain until the transaction ends. */
async function lockDomainOf(db: Db, site: string): Promise<string | undefined> {
    const domain = await db('domains')
        .whereIn('registrable', db('sites').where({ site }).select('registrable'))
        .forUpdate()
        .first('registrable');
    return domain?.registrable;
}
